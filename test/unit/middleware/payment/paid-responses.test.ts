import { randomBytes } from 'node:crypto';
import { keepAsItLeaves, paidResponse } from '../../../../src/middleware/payment/paid-responses.js';
import type { IdempotencyStore } from '../../../../src/storage/idempotency/idempotency-store.js';
import { createMemoryIdempotencyStore } from '../../../../src/storage/idempotency/memory-idempotency-store.js';

const SECRET = 'nonce AbCdEfGhIjKlMnOpQrStUv_-';
const RESPONSE = {
  statusCode: 201,
  statusMessage: 'Made',
  headers: { 'content-type': 'text/plain', 'set-cookie': ['a=1', 'b=2'] },
  body: Buffer.from('the goods \u0000'),
};
afterEach(() => jest.restoreAllMocks());

function newId(): string {
  return randomBytes(32).toString('hex');
}

/** A store in memory that notes what it is given. */
function watched(bytes?: number) {
  const memory = createMemoryIdempotencyStore(bytes === undefined ? {} : { maxBytes: bytes });
  const given: [string, Uint8Array][] = [];
  const idempotency: IdempotencyStore = {
    ...memory,
    put(id, answer) {
      given.push([id, answer]);
      return memory.put(id, answer);
    },
  };
  return { idempotency, given };
}

test('the response of a payment is found again by the one who shows its secret', async () => {
  const { idempotency } = watched();
  const id = newId();
  expect(await paidResponse({ idempotency }, id, { secret: SECRET }).find()).toBeUndefined();
  expect(await paidResponse({ idempotency }, id, { secret: SECRET }).put(RESPONSE)).toBe(true);
  const found = await paidResponse({ idempotency }, id, { secret: SECRET }).find();
  expect(found && { ...found, body: Buffer.from(found.body) }).toEqual(RESPONSE);
});

test('with another secret, or of another payment, nothing is found', async () => {
  const { idempotency } = watched();
  const id = newId();
  await paidResponse({ idempotency }, id, { secret: SECRET }).put(RESPONSE);
  expect(await paidResponse({ idempotency }, id, { secret: `${SECRET}x` }).find()).toBeUndefined();
  expect(await paidResponse({ idempotency }, newId(), { secret: SECRET }).find()).toBeUndefined();
});

test('the store sees neither the secret nor the payment nor the response', async () => {
  const { idempotency, given } = watched();
  const id = newId();
  await paidResponse({ idempotency }, id, { secret: SECRET }).put(RESPONSE);
  expect(given).toHaveLength(1);
  const seen = given.map(([name, bytes]) => `${name}${Buffer.from(bytes).toString('latin1')}`).join();
  for (const part of [SECRET, id, 'the goods', 'text/plain', 'Made']) expect(seen.includes(part)).toBe(false);
});

test('a later response of the same payment takes the place of an earlier one', async () => {
  const { idempotency } = watched();
  const kept = paidResponse({ idempotency }, newId(), { secret: SECRET });
  await kept.put({ ...RESPONSE, statusCode: 500 });
  await kept.put(RESPONSE);
  expect((await kept.find())?.statusCode).toBe(201);
});

test('a response that is larger than the store is not kept, and said to be so', async () => {
  const { idempotency } = watched(10_000);
  const kept = paidResponse({ idempotency }, newId(), { secret: SECRET });
  expect(await kept.put({ ...RESPONSE, body: new Uint8Array(10_000) })).toBe(false);
  expect(await kept.find()).toBeUndefined();
  expect(await kept.put(RESPONSE)).toBe(true);
});

test('what a store that fails should keep or give rejects', async () => {
  const away = () => Promise.reject(new Error('the store is away'));
  const kept = paidResponse({ idempotency: { ...createMemoryIdempotencyStore(), put: away, get: away } }, newId(), {
    secret: SECRET,
  });
  await expect(kept.put(RESPONSE)).rejects.toThrow('the store is away');
  await expect(kept.find()).rejects.toThrow('the store is away');
});

describe('a response on its way out', () => {
  const closed = { closing: AbortSignal.abort() };

  test('is kept once its store is back, and its payment is over then', async () => {
    let tries = 0;
    const leaving = keepAsItLeaves(closed, { writableFinished: false }, async () => {
      tries += 1;
      if (tries < 3) throw new Error('the store is away');
      return true;
    });
    expect([await leaving.put(RESPONSE), await leaving.isSettled(), tries]).toEqual([false, true, 3]);
  });

  test.each([true, false])(
    'is warned of where it never can be, and owed unless it went out whole: %s',
    async (whole) => {
      const lost = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
      const leaving = keepAsItLeaves(closed, { writableFinished: whole }, () =>
        Promise.reject(new Error('the store is away')),
      );
      expect([await leaving.put(RESPONSE), await leaving.isSettled()]).toEqual([false, whole]);
      expect(lost.mock.calls).toEqual([
        ['an answer cannot be kept, and not be asked for again: the store is away', { code: 'TOLLHOUSE_ANSWER_LOST' }],
      ]);
    },
  );
});
