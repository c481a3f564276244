import { createStreamRoom } from '../../../../src/http/events/stream-room.js';

const full = expect.objectContaining({ code: 'rate_limited' });

test('a wallet has ten streams at most, two once half of all are open, and the next wallet finds room all the same', () => {
  const room = createStreamRoom();
  const enter = (wallet: string, times: number) => Array.from({ length: times }, () => room.enter(wallet));
  for (let n = 0; n < 50; n += 1) {
    enter(`wallet ${n}`, 10);
    if (n < 49) expect(() => room.enter(`wallet ${n}`)).toThrow(full);
  }
  const [leave] = enter('late', 2);
  expect(() => room.enter('late')).toThrow(full);
  leave?.();
  enter('late', 1);
  for (let n = 0; n < 249; n += 1) enter(`later ${n}`, 2);
  expect(() => room.enter('the last')).toThrow(full);
});
