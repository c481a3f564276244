import { createPaymentsInFlight } from '../../../../src/facilitator/payments/payments-in-flight.js';

const TOO_MANY = { code: 'too_many_payments', status: 503, retryable: true, context: { retryAfterSeconds: 2 } };
const wallets = ['a', 'b', 'c', 'd', 'e'];

test('a place that is given back twice is one place', async () => {
  const inFlight = createPaymentsInFlight(1);
  const { leave } = await inFlight.enter('a');
  leave();
  leave();
  const second = await inFlight.enter('a');
  await expect(inFlight.enter('b')).rejects.toMatchObject(TOO_MANY);
  second.leave();
  expect(inFlight.load()).toEqual({ paymentsInFlight: 0, maxPaymentsInFlight: 1, roomForPayments: 1, turnedAway: 1 });
});

test('a wallet finds a fifth of the places, and others find theirs beside it', async () => {
  const inFlight = createPaymentsInFlight(10);
  const own = [await inFlight.enter('a'), await inFlight.enter('a')];
  const refusal = expect.stringContaining('payments of this wallet');
  await expect(inFlight.enter('a')).rejects.toMatchObject({ ...TOO_MANY, message: refusal });
  await inFlight.enter('b');
  own[0]!.leave();
  await inFlight.enter('a');
  expect(inFlight.load()).toMatchObject({ paymentsInFlight: 3, turnedAway: 1 });
});

test('who is due goes on where there is no room, is counted, and is told what is full', async () => {
  const inFlight = createPaymentsInFlight(5);
  const places = await Promise.all(wallets.map((it) => inFlight.enter(it)));
  const asked: string[] = [];
  const isDue = async (full: string) => asked.push(full) > 0;
  places.push(await inFlight.enter('f', isDue), await inFlight.enter('a', isDue));
  expect([asked, inFlight.load().paymentsInFlight]).toEqual([['all', 'wallet'], 7]);
  for (const it of places) it.leave();
  await inFlight.enter('g', () => Promise.reject(new Error('nobody is asked while there is room')));
  expect(inFlight.load()).toMatchObject({ paymentsInFlight: 1, turnedAway: 0 });
});

test('work that fails gives its place back, and so does a question that fails', async () => {
  const inFlight = createPaymentsInFlight(1);
  await expect(inFlight.during('a', () => Promise.reject(new Error('no chain')))).rejects.toThrow('no chain');
  const failing = inFlight.during('a', async () => {
    await inFlight.enter('b', () => Promise.reject(new Error('no store')));
  });
  await expect(failing).rejects.toThrow('no store');
  expect(inFlight.load()).toEqual({ paymentsInFlight: 0, maxPaymentsInFlight: 1, roomForPayments: 1, turnedAway: 0 });
});

test('without a bound nobody is turned away', async () => {
  const inFlight = createPaymentsInFlight(Number.POSITIVE_INFINITY);
  for (let count = 0; count < 1_000; count += 1) await inFlight.enter('a');
  expect(inFlight.load()).toMatchObject({ paymentsInFlight: 1_000, turnedAway: 0 });
});
