import { createSendWindow, type SendWindow } from '../../../../src/facilitator/sponsorship/send-window.js';

const FIVE = ['a', 'b', 'c', 'd', 'e'];
/** What the official client's payment costs, in lamports. */
const FEE = 10_001n;
/** What a transaction costs a payer that takes his money away before it. */
const DRAIN = 5_203n;

afterEach(() => jest.restoreAllMocks());

/** Asks for the room of a payment to somebody who may be the payer himself. */
async function enter(window: SendWindow, id: string, wallet = 'wallet', fee = FEE): Promise<boolean> {
  return window.enter({ id, wallets: [wallet], fee, isOperators: false });
}

/** A window that a wallet has filled, and what became of those who wait. */
async function filled(waitMs?: number) {
  const window = createSendWindow(waitMs);
  for (const id of FIVE) expect(await enter(window, id)).toBe(true);
  const told: (readonly [string, boolean])[] = [];
  const next = async (id: string): Promise<void> => void told.push([id, await enter(window, id)]);
  return { window, told, next };
}

test('a wallet with five ordinary payments unlanded waits, and another does not', async () => {
  const { window, told, next } = await filled();
  const sixth = next('sixth');
  expect(await enter(window, 'other', 'another wallet')).toBe(true);
  expect(await enter(window, 'a')).toBe(true);
  expect(told).toEqual([]);
  window.leave('c');
  await sixth;
  expect(told).toEqual([['sixth', true]]);
});

test('one that is not sent after all, or expires, frees its own room and makes no more', async () => {
  for (const end of [undefined, 'unsent', 'expired'] as const) {
    const { window, told, next } = await filled(1);
    window.leave('a', end);
    await next('i');
    await next('j');
    expect(told).toEqual([
      ['i', true],
      ['j', false],
    ]);
  }
});

test('each payment that lands makes room for two, in the order of their coming', async () => {
  const { window, told, next } = await filled();
  const all = ['i', 'j', 'k', 'l'].map(next);
  window.leave('a', 'landed');
  await Promise.all(all.slice(0, 2));
  expect(told.map(([id]) => id)).toEqual(['i', 'j']);
  window.leave('a', 'landed');
  window.leave('i', 'landed');
  await Promise.all(all);
  expect(told.map(([id, hasRoom]) => hasRoom && id)).toEqual(['i', 'j', 'k', 'l']);
});

test('however many have landed, a wallet has ten ordinary payments unlanded at most, which cost less than twenty drains', async () => {
  const { window, next, told } = await filled();
  for (let n = 0; n < 200; n += 1) {
    window.leave(n < FIVE.length ? (FIVE[n] ?? '') : `landed ${n - FIVE.length}`, 'landed');
    await enter(window, `landed ${n}`);
  }
  // The last five are on their way still.
  for (let n = 0; n < 5; n += 1) await next(`burst ${n}`);
  const eleventh = next('eleventh');
  await Promise.resolve();
  expect(told.map(([id]) => id)).toEqual(['burst 0', 'burst 1', 'burst 2', 'burst 3', 'burst 4']);
  expect(10n * FEE).toBeLessThan(20n * DRAIN);
  window.leave('burst 0', 'landed');
  await eleventh;
  expect(told.at(-1)).toEqual(['eleventh', true]);
});

test('a customer has as many on their way at once as have landed of what he paid the operator, up to a hundred', async () => {
  const window = createSendWindow(1);
  const buy = (id: string) => window.enter({ id, wallets: ['customer'], fee: FEE, isOperators: true });
  for (const [bought, room] of [
    [7, 10],
    [30, 30],
    [500, 100],
  ] as const) {
    for (let n = 0; n < bought; n += 1) {
      expect(await buy(`bought ${n}`)).toBe(true);
      window.leave(`bought ${n}`, 'landed');
    }
    const all = await Promise.all(Array.from({ length: 120 }, (_, n) => enter(window, `burst ${n}`, 'customer')));
    expect(all.filter(Boolean).length).toBe(room);
    // A failure makes him as new.
    for (let n = 0; n < room; n += 1) window.leave(`burst ${n}`, n === 0 ? 'failed' : 'unsent');
  }
});

test('a purchase counts as an ordinary one, whatever its payer has had us pay for it, and for an hour', async () => {
  let now = 1;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  const window = createSendWindow(1);
  const buy = async (id: string) => {
    await window.enter({ id, wallets: ['customer'], fee: 3n * FEE, isOperators: true });
    window.leave(id, 'landed');
  };
  const room = async (name: string): Promise<number> => {
    const ids = Array.from({ length: 60 }, (_, n) => `${name} ${n}`);
    const all = await Promise.all(ids.map((id) => enter(window, id, 'customer')));
    for (const id of ids) window.leave(id, 'unsent');
    return all.filter(Boolean).length;
  };
  for (let n = 0; n < 20; n += 1) await buy(`bought ${n}`);
  expect(await room('at once')).toBe(20);
  now += 3_000_000;
  await buy('another');
  expect(await room('within the hour')).toBe(21);
  now += 1_000_000;
  await buy('in the next');
  expect(await room('in the next hour')).toBe(6);
});

test('one that fails sends all away who wait, and the wallet is as new', async () => {
  const { window, told, next } = await filled();
  const first = next('i');
  window.leave('a', 'landed');
  await first;
  const all = ['j', 'k', 'l'].map(next);
  window.leave('b', 'failed');
  await Promise.all(all);
  expect(told.slice(1)).toEqual([
    ['j', true],
    ['k', false],
    ['l', false],
  ]);
  const another = next('m');
  window.leave('c');
  window.leave('d');
  await another;
  expect(told.at(-1)).toEqual(['m', true]);
});

test('who waits too long is sent away, and takes no room later', async () => {
  const { window, told, next } = await filled(1);
  await next('late');
  expect(told).toEqual([['late', false]]);
  window.leave('a');
  expect(await enter(window, 'next')).toBe(true);
});

test('what nobody ends gives its room back when no blockhash can be alive any more', async () => {
  let now = 1;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  const window = createSendWindow(1);
  for (const id of FIVE) await enter(window, id);
  now = 180_000;
  expect(await enter(window, 'early')).toBe(false);
  now = 180_001;
  expect(await enter(window, 'next')).toBe(true);
});

test('dear payments take the room of several, and one of them always finds room', async () => {
  const window = createSendWindow(1);
  expect(await enter(window, 'a', 'wallet', 29_800n)).toBe(true);
  expect(await enter(window, 'b', 'wallet', 29_800n)).toBe(false);
  expect(await enter(window, 'c', 'wallet', 20_205n)).toBe(true);
  expect(await enter(window, 'd', 'wallet', 1n)).toBe(false);
  expect(await enter(window, 'e', 'another wallet', 1_000_000n)).toBe(true);
  expect(await enter(window, 'f', 'another wallet', 1n)).toBe(false);
});

test('a payment that several can take back takes room of each, and gives all of it back', async () => {
  const window = createSendWindow(0);
  const shared = (id: string) => window.enter({ id, wallets: ['payer', 'owner'], fee: FEE, isOperators: false });
  for (const id of ['a', 'b', 'c', 'd', 'e']) expect(await shared(id)).toBe(true);
  expect(await shared('f')).toBe(false);
  expect(await enter(window, 'g', 'owner')).toBe(false);
  expect(await enter(window, 'h', 'payer')).toBe(false);
  window.leave('a');
  expect(await enter(window, 'i', 'owner')).toBe(true);
  // Where one has room and the other has none, nothing is taken.
  expect(await shared('j')).toBe(false);
  expect(await enter(window, 'k', 'payer')).toBe(true);
});

test("of two who each pay from what is the other one's, neither waits for one who waits for him", async () => {
  const window = createSendWindow();
  const pay = async (id: string, wallets: readonly string[]): Promise<boolean> =>
    window.enter({ id, wallets, fee: 5n * FEE, isOperators: false });
  expect([await pay('a', ['one']), await pay('b', ['other'])]).toEqual([true, true]);
  const [there, back] = [pay('c', ['one', 'other']), pay('d', ['other', 'one'])];
  window.leave('a');
  await Promise.resolve();
  window.leave('b');
  expect(await there).toBe(true);
  window.leave('c');
  expect(await back).toBe(true);
});

test('who waits for the room of a delegate waits on where a payment of another one fails, who is a stranger to him', async () => {
  const window = createSendWindow(60_000);
  for (const id of ['a', 'b', 'c', 'd', 'e']) await enter(window, id, 'delegate of many');
  const waiting = enter(window, 'f', 'delegate of many');
  window.leave('a', 'failed');
  expect(await waiting).toBe(true);
});
