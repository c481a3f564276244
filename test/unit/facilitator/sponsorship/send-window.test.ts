import { createSendWindow } from '../../../../src/facilitator/sponsorship/send-window.js';

const FIVE = ['a', 'b', 'c', 'd', 'e'];
/** What the official client's payment costs, in lamports. */
const FEE = 10_001n;
/** What a transaction costs a payer that takes his money away before it. */
const DRAIN = 5_203n;

afterEach(() => jest.restoreAllMocks());

/** A window that a wallet has filled, and what became of those who wait. */
async function filled(waitMs?: number) {
  const window = createSendWindow(waitMs);
  for (const id of FIVE) expect(await window.enter(id, 'wallet', FEE)).toBe(true);
  const told: (readonly [string, boolean])[] = [];
  const enter = async (id: string): Promise<void> => void told.push([id, await window.enter(id, 'wallet', FEE)]);
  return { window, told, enter };
}

test('a wallet with five ordinary payments unlanded waits, and another does not', async () => {
  const { window, told, enter } = await filled();
  const sixth = enter('sixth');
  expect(await window.enter('other', 'another wallet', FEE)).toBe(true);
  expect(await window.enter('a', 'wallet', FEE)).toBe(true);
  expect(told).toEqual([]);
  window.leave('c');
  await sixth;
  expect(told).toEqual([['sixth', true]]);
});

test('one that is not sent after all, or expires, frees its own room and makes no more', async () => {
  for (const end of [undefined, 'unsent', 'expired'] as const) {
    const { window, told, enter } = await filled(1);
    window.leave('a', end);
    await enter('i');
    await enter('j');
    expect(told).toEqual([
      ['i', true],
      ['j', false],
    ]);
  }
});

test('each payment that lands makes room for two, in the order of their coming', async () => {
  const { window, told, enter } = await filled();
  const all = ['i', 'j', 'k', 'l'].map(enter);
  window.leave('a', 'landed');
  await Promise.all(all.slice(0, 2));
  expect(told.map(([id]) => id)).toEqual(['i', 'j']);
  window.leave('a', 'landed');
  window.leave('i', 'landed');
  await Promise.all(all);
  expect(told.map(([id, hasRoom]) => hasRoom && id)).toEqual(['i', 'j', 'k', 'l']);
});

test('however many have landed, a wallet has ten ordinary payments unlanded at most, which cost less than twenty drains', async () => {
  const { window, enter, told } = await filled();
  for (let n = 0; n < 200; n += 1) {
    window.leave(n < FIVE.length ? (FIVE[n] ?? '') : `landed ${n - FIVE.length}`, 'landed');
    await window.enter(`landed ${n}`, 'wallet', FEE);
  }
  // The last five are on their way still.
  for (let n = 0; n < 5; n += 1) await enter(`burst ${n}`);
  const eleventh = enter('eleventh');
  await Promise.resolve();
  expect(told.map(([id]) => id)).toEqual(['burst 0', 'burst 1', 'burst 2', 'burst 3', 'burst 4']);
  expect(10n * FEE).toBeLessThan(20n * DRAIN);
  window.leave('burst 0', 'landed');
  await eleventh;
  expect(told.at(-1)).toEqual(['eleventh', true]);
});

test('one that fails sends all away who wait, and the wallet is as new', async () => {
  const { window, told, enter } = await filled();
  const first = enter('i');
  window.leave('a', 'landed');
  await first;
  const all = ['j', 'k', 'l'].map(enter);
  window.leave('b', 'failed');
  await Promise.all(all);
  expect(told.slice(1)).toEqual([
    ['j', true],
    ['k', false],
    ['l', false],
  ]);
  const next = enter('m');
  window.leave('c');
  window.leave('d');
  await next;
  expect(told.at(-1)).toEqual(['m', true]);
});

test('who waits too long is sent away, and takes no room later', async () => {
  const { window, told, enter } = await filled(1);
  await enter('late');
  expect(told).toEqual([['late', false]]);
  window.leave('a');
  expect(await window.enter('next', 'wallet', FEE)).toBe(true);
});

test('what nobody ends gives its room back when no blockhash can be alive any more', async () => {
  let now = 1;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  const window = createSendWindow(1);
  for (const id of FIVE) await window.enter(id, 'wallet', FEE);
  now = 180_000;
  expect(await window.enter('early', 'wallet', FEE)).toBe(false);
  now = 180_001;
  expect(await window.enter('next', 'wallet', FEE)).toBe(true);
});

test('dear payments take the room of several, and one of them always finds room', async () => {
  const window = createSendWindow(1);
  expect(await window.enter('a', 'wallet', 29_800n)).toBe(true);
  expect(await window.enter('b', 'wallet', 29_800n)).toBe(false);
  expect(await window.enter('c', 'wallet', 20_205n)).toBe(true);
  expect(await window.enter('d', 'wallet', 1n)).toBe(false);
  expect(await window.enter('e', 'another wallet', 1_000_000n)).toBe(true);
  expect(await window.enter('f', 'another wallet', 1n)).toBe(false);
});
