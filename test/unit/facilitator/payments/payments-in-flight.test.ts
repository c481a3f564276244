import { createPaymentsInFlight } from '../../../../src/facilitator/payments/payments-in-flight.js';

const TOO_MANY = { code: 'too_many_payments', status: 503, retryable: true, context: { retryAfterSeconds: 2 } };
const wallets = ['a', 'b', 'c', 'd', 'e'];

test('a place that is given back twice is one place', async () => {
  const inFlight = createPaymentsInFlight({ maxPaymentsInFlight: 1 });
  const { leave } = await inFlight.enter({ payer: 'a' });
  leave();
  leave();
  const second = await inFlight.enter({ payer: 'a' });
  await expect(inFlight.enter({ payer: 'b' })).rejects.toMatchObject(TOO_MANY);
  second.leave();
  expect(inFlight.load()).toEqual({ paymentsInFlight: 0, maxPaymentsInFlight: 1, roomForPayments: 1, turnedAway: 1 });
});

test('a wallet finds a fifth of the places, and others find theirs beside it', async () => {
  const inFlight = createPaymentsInFlight({ maxPaymentsInFlight: 10 });
  const own = [await inFlight.enter({ payer: 'a' }), await inFlight.enter({ payer: 'a' })];
  const refusal = expect.stringContaining('payments of this wallet');
  await expect(inFlight.enter({ payer: 'a' })).rejects.toMatchObject({ ...TOO_MANY, message: refusal });
  await inFlight.enter({ payer: 'b' });
  own[0]!.leave();
  await inFlight.enter({ payer: 'a' });
  expect(inFlight.load()).toMatchObject({ paymentsInFlight: 3, turnedAway: 1 });
});

test('who is due goes on where there is no room, is counted, and is told what is full', async () => {
  const inFlight = createPaymentsInFlight({ maxPaymentsInFlight: 5 });
  const places = await Promise.all(wallets.map((it) => inFlight.enter({ payer: it })));
  const asked: string[] = [];
  const isDue = async (full: string) => asked.push(full) > 0;
  places.push(await inFlight.enter({ payer: 'f' }, isDue), await inFlight.enter({ payer: 'a' }, isDue));
  expect([asked, inFlight.load().paymentsInFlight]).toEqual([['all', 'wallet'], 7]);
  for (const it of places) it.leave();
  await inFlight.enter({ payer: 'g' }, () => Promise.reject(new Error('nobody is asked while there is room')));
  expect(inFlight.load()).toMatchObject({ paymentsInFlight: 1, turnedAway: 0 });
});

test('work that fails gives its place back, and so does a question that fails', async () => {
  const inFlight = createPaymentsInFlight({ maxPaymentsInFlight: 1 });
  await expect(inFlight.during({ payer: 'a' }, () => Promise.reject(new Error('no chain')))).rejects.toThrow(
    'no chain',
  );
  const failing = inFlight.during({ payer: 'a' }, async () => {
    await inFlight.enter({ payer: 'b' }, () => Promise.reject(new Error('no store')));
  });
  await expect(failing).rejects.toThrow('no store');
  expect(inFlight.load()).toEqual({ paymentsInFlight: 0, maxPaymentsInFlight: 1, roomForPayments: 1, turnedAway: 0 });
});

test('an address finds its share of what the others leave, with however many wallets, and others find places beside it', async () => {
  const inFlight = createPaymentsInFlight({ maxPaymentsInFlight: 100, maxAddressShare: 0.5 });
  let wallets = 0;
  /** As many as an address finds. */
  async function fill(client: string): Promise<number> {
    for (let found = 0; ; found += 1) {
      wallets += 1;
      const entered = await inFlight.enter({ payer: `${wallets}`, client }).catch((error: unknown) => error);
      if (!(entered instanceof Error)) continue;
      expect(entered).toMatchObject({ ...TOO_MANY, message: expect.stringContaining('payments from this address') });
      return found;
    }
  }
  expect([await fill('a'), await fill('b'), await fill('c'), await fill('d')]).toEqual([45, 23, 11, 6]);
  await expect(inFlight.mustHaveRoom('a', async () => false)).rejects.toMatchObject(TOO_MANY);
  await inFlight.mustHaveRoom('a', async () => true);
  await inFlight.mustHaveRoom('e', async () => false);
  await inFlight.mustHaveRoom(undefined, async () => false);
  (await inFlight.enter({ payer: 'honest', client: 'e' })).leave();
  await inFlight.enter({ payer: 'embedded' });
});

const PLACES = 500;

/** Networks that each take all that they find, with a wallet for each payment. */
async function flood(from: readonly ((at: number) => string)[]) {
  const inFlight = createPaymentsInFlight({ maxPaymentsInFlight: PLACES, maxAddressShare: 0.5 });
  for (const client of from) {
    for (let at = 0; at < PLACES; at += 1) {
      const by = { payer: `${client(0)} ${at}`, client: client(at) };
      await inFlight.enter(by).catch((error: unknown) => expect(error).toMatchObject(TOO_MANY));
    }
  }
  return inFlight;
}

test.each<[string, readonly ((at: number) => string)[], string]>([
  ['nine IPv4 addresses', Array.from({ length: 9 }, (_, n) => () => `203.0.${n}.7`), '198.51.100.'],
  ['nine addresses of one IPv4 network', Array.from({ length: 9 }, (_, n) => () => `203.0.113.${n}`), '198.51.100.'],
  ['nine /56', Array.from({ length: 9 }, (_, n) => () => `2001:db8:${n}::/56`), '2001:db9:1::'],
  [
    'nine /56 of each of nine /32',
    Array.from({ length: 9 }, (_, n) => (at) => `2001:d${n}8:${at % 9}::/56`),
    '2001:db9::',
  ],
  ['a /48 of many /56', [(at) => `2001:db8:1:${(at % 256).toString(16)}00::/56`], '2001:db8:2::'],
  ['a /32 of many /48', [(at) => `2001:db8:${at.toString(16)}::/56`], '2001:db9:1::'],
])('%s leave a place for whoever comes from elsewhere', async (_name, from, elsewhere) => {
  const inFlight = await flood(from);
  const filled = inFlight.load().paymentsInFlight;
  expect(filled).toBeLessThan((PLACES * 9) / 10 + from.length);
  for (const client of from.map((it) => it(0))) {
    await expect(inFlight.enter({ payer: 'one more', client })).rejects.toMatchObject(TOO_MANY);
  }
  const client = elsewhere.endsWith('.') ? `${elsewhere}20` : `${elsewhere}/56`;
  await inFlight.mustHaveRoom(client, async () => false);
  await inFlight.enter({ payer: 'honest', client });
  expect(inFlight.load().paymentsInFlight).toBe(filled + 1);
});

test('the places for newcomers are one for each network, and none is left behind', async () => {
  const inFlight = await flood(Array.from({ length: 12 }, (_, n) => () => `203.0.${n}.7`));
  const newcomers = [];
  for (let n = 0; inFlight.load().paymentsInFlight < PLACES; n += 1) {
    newcomers.push(await inFlight.enter({ payer: `${n}`, client: `198.51.${n}.20` }));
    const again = inFlight.enter({ payer: 'again', client: `198.51.${n}.21` });
    await expect(again).rejects.toMatchObject(TOO_MANY);
  }
  expect(newcomers.length).toBeGreaterThan(PLACES / 12);
  await expect(inFlight.enter({ payer: 'late', client: '192.0.2.1' })).rejects.toMatchObject(TOO_MANY);
  newcomers[0]!.leave();
  await inFlight.enter({ payer: 'late', client: '192.0.2.1' });
});

test('an address that gives places back finds them again, and by its option more or all of them', async () => {
  const inFlight = createPaymentsInFlight({ maxPaymentsInFlight: 10, maxAddressShare: 0.8 });
  const enter = (payer: number) => inFlight.enter({ payer: `${payer}`, client: 'a' });
  const places = [];
  for (let n = 0; n < 8; n += 1) places.push(await enter(n));
  await expect(enter(9)).rejects.toMatchObject(TOO_MANY);
  for (const it of places) it.leave();
  for (let n = 0; n < 8; n += 1) await enter(n);
  await expect(enter(9)).rejects.toMatchObject(TOO_MANY);
  const all = createPaymentsInFlight({ maxPaymentsInFlight: 10, maxAddressShare: 1 });
  for (let n = 0; n < 10; n += 1) await all.enter({ payer: `${n}`, client: 'a' });
});

test('without a bound nobody is turned away', async () => {
  const inFlight = createPaymentsInFlight({ maxPaymentsInFlight: Number.POSITIVE_INFINITY });
  for (let count = 0; count < 1_000; count += 1) await inFlight.enter({ payer: 'a' });
  expect(inFlight.load()).toMatchObject({ paymentsInFlight: 1_000, turnedAway: 0 });
});
