import { createStreamRoom, type StreamRoom } from '../../../../src/http/events/stream-room.js';

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

let wallets = 0;

/** Opens streams, each of another wallet, until the first is refused; answers how many were opened, and how to leave. */
function fill(room: StreamRoom, client: string): { readonly opened: number; readonly leave: (() => void)[] } {
  const leave: (() => void)[] = [];
  for (;;) {
    wallets += 1;
    try {
      leave.push(room.enter(`wallet of its own ${wallets}`, client));
    } catch (error) {
      expect(error).toMatchObject({ code: 'rate_limited', context: { retryAfterSeconds: 10 } });
      expect(String(error)).toMatch('from this address or its network, whosever they are');
      return { opened: leave.length, leave };
    }
  }
}

test('an address has half of what the others leave, with however many wallets, and others find room beside it', () => {
  const room = createStreamRoom();
  const flood = fill(room, '192.0.2.1');
  expect(flood.opened).toBe(450);
  const other = fill(room, '198.51.100.1');
  expect(other.opened).toBe(225);
  expect(fill(room, '2001:db8::/56').opened).toBeGreaterThan(100);
  for (const leave of flood.leave) leave();
  expect(fill(room, '198.51.100.1').opened).toBeGreaterThan(0);
});

test('all addresses of a network leave room to the others, and a newcomer finds a place when they have all of theirs', () => {
  const room = createStreamRoom();
  let opened = 0;
  for (let n = 0; n < 256; n += 1) opened += fill(room, `192.0.2.${n}`).opened;
  expect(opened).toBeLessThan(700);
  expect(fill(room, '198.51.100.1').opened).toBeGreaterThan(100);
  for (let n = 0; n < 100; n += 1) fill(room, `203.0.${n}.1`);
  expect(() => room.enter('a newcomer', '233.252.0.1')).not.toThrow();
});
