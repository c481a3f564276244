import { createSendWindow, type SendWindow } from '../../../../src/facilitator/sponsorship/send-window.js';
import { nameOfDelegate, UNKEYED } from '../../../../src/facilitator/sponsorship/spending.js';

const FIVE = ['a', 'b', 'c', 'd', 'e'];
/** What the official client's payment costs, in lamports. */
const FEE = 10_001n;
/** What a transaction costs a payer that takes his money away before it. */
const DRAIN = 5_203n;

afterEach(() => jest.restoreAllMocks());

/** Asks for the room of a payment to somebody who may be the payer himself. */
async function enter(window: SendWindow, id: string, wallet = 'wallet', fee = FEE): Promise<boolean> {
  return window.enter({ id, payer: wallet, spenders: [], fee, isOperators: false });
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
  for (const [bought, room] of [
    [7, 10],
    [30, 30],
    [500, 100],
  ] as const) {
    const payer = `customer of ${bought}`;
    for (let n = 0; n < bought; n += 1) {
      expect(await window.enter({ id: `${n}`, payer, spenders: [], fee: FEE, isOperators: true })).toBe(true);
      window.leave(`${n}`, 'landed');
    }
    const ids = Array.from({ length: 120 }, (_, n) => `burst of ${payer} ${n}`);
    const all = await Promise.all(ids.map((id) => enter(window, id, payer)));
    expect(all.filter(Boolean).length).toBe(room);
  }
});

test('a purchase counts as an ordinary one, whatever its payer has had us pay for it, and for an hour', async () => {
  let now = 1;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  const window = createSendWindow(1);
  const buy = async (id: string) => {
    await window.enter({ id, payer: 'customer', spenders: [], fee: 3n * FEE, isOperators: true });
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

test('one that fails sends all away who wait, and has one alone on its way after it for ten minutes', async () => {
  let now = 1;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  const { window, told, next } = await filled(1);
  const all = ['i', 'j'].map(next);
  window.leave('b', 'failed');
  await Promise.all(all);
  expect(told).toEqual([
    ['i', false],
    ['j', false],
  ]);
  for (const id of ['a', 'c', 'd']) window.leave(id);
  expect(await enter(window, 'beside another')).toBe(false);
  window.leave('e', 'landed');
  expect([await enter(window, 'alone'), await enter(window, 'beside it')]).toEqual([true, false]);
  now += 600_001;
  expect(await enter(window, 'after that')).toBe(true);
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
  const shared = (id: string) =>
    window.enter({ id, payer: 'payer', spenders: ['owner'], fee: FEE, isOperators: false });
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
  const pay = async (id: string, payer: string, ...spenders: readonly string[]): Promise<boolean> =>
    window.enter({ id, payer, spenders, fee: 5n * FEE, isOperators: false });
  expect([await pay('a', 'one'), await pay('b', 'other')]).toEqual([true, true]);
  const [there, back] = [pay('c', 'one', 'other'), pay('d', 'other', 'one')];
  window.leave('a');
  await Promise.resolve();
  window.leave('b');
  expect(await there).toBe(true);
  window.leave('c');
  expect(await back).toBe(true);
});

describe('the room of a delegate', () => {
  const DELEGATE = nameOfDelegate('helper');
  const enterAs = async (window: SendWindow, id: string, payer: string, ...spenders: readonly string[]) =>
    window.enter({ id, payer, spenders: [...spenders, DELEGATE], fee: FEE, isOperators: true });

  test('is waited for on where a payment of another one fails, who is a stranger', async () => {
    const window = createSendWindow(60_000);
    for (const id of FIVE) await enterAs(window, id, id);
    const waiting = enterAs(window, 'f', 'f');
    for (const id of FIVE) window.leave(id, 'failed');
    expect(await waiting).toBe(true);
  });

  test('has one payment more of each who pays from his own account, and of nobody else', async () => {
    const window = createSendWindow(0);
    for (const id of FIVE) await enterAs(window, id, id);
    expect(await enterAs(window, 'stranger', 'somebody', 'another')).toBe(false);
    expect(await enterAs(window, 'own', 'owner', 'owner')).toBe(true);
    expect(await enterAs(window, 'second', 'owner', 'owner')).toBe(false);
    window.leave('own');
    expect(await enterAs(window, 'third', 'owner', 'owner')).toBe(true);
  });

  test('is as it was, however much is bought in it', async () => {
    const window = createSendWindow(0);
    for (let n = 0; n < 20; n += 1) {
      await enterAs(window, `bought ${n}`, `wallet ${n}`);
      window.leave(`bought ${n}`, 'landed');
    }
    for (const id of FIVE) expect(await enterAs(window, id, id)).toBe(true);
    expect(await enterAs(window, 'sixth', 'sixth')).toBe(false);
  });
});

test('wallets without a key of their own have room for four together', async () => {
  const window = createSendWindow(0);
  const pay = async (id: string) => window.enter({ id, payer: id, spenders: [UNKEYED], fee: FEE, isOperators: true });
  for (const id of ['a', 'b', 'c', 'd']) {
    expect(window.hasRoom(UNKEYED, FEE)).toBe(true);
    expect(await pay(id)).toBe(true);
  }
  expect([window.hasRoom(UNKEYED, FEE), await pay('e')]).toEqual([false, false]);
  window.leave('a', 'landed');
  expect([await pay('f'), await pay('g')]).toEqual([true, false]);
});

test('who waits for his own room keeps no place of strangers meanwhile, however his address is spelled', async () => {
  const window = createSendWindow(60_000);
  const payer = 'z is behind all others';
  for (const id of FIVE) await enter(window, id, payer);
  const pay = (id: string) =>
    window.enter({ id, payer, spenders: [UNKEYED, nameOfDelegate('helper')], fee: 5n * FEE, isOperators: false });
  const waiting = pay('f');
  expect(window.hasRoom(UNKEYED, 4n * FEE)).toBe(true);
  for (const id of FIVE) window.leave(id, 'unsent');
  expect(await waiting).toBe(true);
  expect(window.hasRoom(UNKEYED, FEE)).toBe(false);
});
