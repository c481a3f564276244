import { createOwnerTurns } from '../../../../src/http/framework/owner-turns.js';
import { createGate } from '../../../helpers/transactions/payments.js';

/** Work that is noted when it begins, and ends when it is told to. */
function work(turns: ReturnType<typeof createOwnerTurns>) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const start = (owner: string, name: string) =>
    turns.run(owner, async () => {
      const gate = createGate();
      begun.push(name);
      ends.set(name, gate.open);
      await gate.opened;
      return name;
    });
  const settle = () => new Promise(setImmediate);
  async function end(name: string): Promise<void> {
    ends.get(name)?.();
    await settle();
  }
  return { begun, start, end, settle };
}

test('two of an owner are done at once, another owner at once as well, and those who wait take turns', async () => {
  const { begun, start, end, settle } = work(createOwnerTurns({ inAll: 3, rest: 0 }));
  const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map((name) => start(name[0]!, name));
  await settle();
  expect(begun).toEqual(['a1', 'a2', 'b1']);
  await end('b1');
  expect(begun.at(-1)).toBe('b2');
  await end('a1');
  expect(begun.at(-1)).toBe('a3');
  await end('a2');
  expect(begun.at(-1)).toBe('c1');
  for (const name of ['a3', 'a4', 'b2', 'c1']) await end(name);
  expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']);
});

test('more than eight that wait are refused, and what fails makes room', async () => {
  const turns = createOwnerTurns({ ofOwner: 1, rest: 0 });
  const gate = createGate();
  const running = [turns.run('a', () => gate.opened.then(() => Promise.reject(new Error('no figures'))))];
  for (let n = 0; n < 8; n += 1) running.push(turns.run('a', async () => undefined as never));
  const context = { retryAfterSeconds: 1 };
  await expect(turns.run('a', async () => 1)).rejects.toMatchObject({ code: 'rate_limited', context });
  expect(await turns.run('b', async () => 'another owner')).toBe('another owner');
  gate.open();
  const ends = await Promise.allSettled(running);
  expect(ends.map(({ status }) => status)).toEqual(['rejected', ...Array(8).fill('fulfilled')]);
  expect(await turns.run('a', async () => 'room')).toBe('room');
});

test('a place stays empty after its work, longer than that took, and what waits is done after it', async () => {
  const turns = createOwnerTurns({ ofOwner: 1, inAll: 2 });
  const times: number[] = [];
  const spin = async () => {
    const begun = performance.now();
    times.push(begun);
    while (performance.now() < begun + 10);
  };
  await Promise.all([turns.run('a', spin), turns.run('a', spin), turns.run('a', spin)]);
  const [first = 0, second = 0, third = 0] = times;
  // Timers are rounded to milliseconds.
  expect(second - first).toBeGreaterThanOrEqual(49);
  expect(third - second).toBeGreaterThanOrEqual(49);
});

test('a place stays empty the longer the more of them are in use, whosever they are', async () => {
  const turns = createOwnerTurns({ ofOwner: 1, inAll: 3, rest: 4 });
  const gate = createGate();
  const others = ['b', 'c'].map((owner) => turns.run(owner, () => gate.opened));
  const times: number[] = [];
  const spin = async () => {
    const begun = performance.now();
    times.push(begun);
    while (performance.now() < begun + 10);
  };
  await Promise.all([turns.run('a', spin), turns.run('a', spin)]);
  gate.open();
  await Promise.all(others);
  const [first = 0, second = 0] = times;
  // Timers are rounded to milliseconds.
  expect(second - first).toBeGreaterThanOrEqual(10 + 3 * 40 - 1);
});
