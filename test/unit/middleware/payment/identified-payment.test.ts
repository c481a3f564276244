import type { Request } from 'express';
import { identifiedPayment, identifierFault } from '../../../../src/middleware/payment/identified-payment.js';
import type { ResolvedPaymentOptions } from '../../../../src/middleware/terms/payment-options.js';
import { PAYMENT_IDENTIFIER } from '../../../../src/protocol/payment-identifier.js';
import type { Payment } from '../../../../src/protocol/types.js';
import { createMemoryIdempotencyStore } from '../../../../src/storage/idempotency/memory-idempotency-store.js';
import { testClock } from '../../../helpers/test-clock.js';
import { PAYMENT } from '../../protocol/samples.js';

const ID = 'order_0123456789';
const A_DAY_MS = 86_400_000;

function named(id: unknown): Payment {
  return { ...PAYMENT, extensions: { [PAYMENT_IDENTIFIER]: { info: { required: false, id } } } };
}

function options(paymentIdentifier: ResolvedPaymentOptions['paymentIdentifier']): ResolvedPaymentOptions {
  return { paymentIdentifier } as ResolvedPaymentOptions;
}

/** A shop that remembers identifiers. */
function openShop(paymentIdentifier: ResolvedPaymentOptions['paymentIdentifier'] = 'optional') {
  const { now, advance } = testClock();
  const idempotency = createMemoryIdempotencyStore({ now });
  const shop = { paymentIdentifier, facilitator: { idempotency } } as ResolvedPaymentOptions;
  const bring = (paymentId: string, payment: Payment | undefined = named(ID), where: Partial<Request> = {}) => {
    const req = { method: 'GET', baseUrl: '/shop', path: '/report', ...where } as Request;
    const { take, giveBack } = identifiedPayment(shop, req, payment, { id: paymentId, payer: 'a wallet' });
    return { take: async () => (await take()) === undefined, giveBack };
  };
  return { bring, advance };
}

describe('an identifier', () => {
  test('is the first payment’s that is made under it, and no other’s', async () => {
    const { bring } = openShop();
    expect(await bring('one').take()).toBe(true);
    expect(await bring('other').take()).toBe(false);
    expect(await bring('one').take()).toBe(true);
  });

  test('is taken once by payments that come at the same time', async () => {
    const { bring } = openShop();
    const taken = await Promise.all(['a', 'b', 'c', 'd'].map((id) => bring(id).take()));
    expect(taken.filter(Boolean)).toHaveLength(1);
  });

  test('that is given back is free, but only by the one who has taken it', async () => {
    const { bring } = openShop();
    const [one, other] = [bring('one'), bring('other')];
    await one.take();
    await other.take();
    await other.giveBack();
    expect(await bring('third').take()).toBe(false);
    await one.giveBack();
    expect(await bring('third').take()).toBe(true);
  });

  test('is the payment’s for a day', async () => {
    const { bring, advance } = openShop();
    await bring('one').take();
    await advance(A_DAY_MS - 1);
    expect(await bring('other').take()).toBe(false);
    await advance(2);
    expect(await bring('other').take()).toBe(true);
  });

  test('counts on one method and path', async () => {
    const { bring } = openShop();
    await bring('one').take();
    for (const where of [{ method: 'POST' }, { path: '/other' }, { baseUrl: '/elsewhere' }]) {
      expect(await bring('other', named(ID), where).take()).toBe(true);
    }
  });
});

test('payments without an identifier, or where they do not count, never stand in each other’s way', async () => {
  const { bring } = openShop();
  const off = openShop('off').bring;
  for (const open of [() => bring('one', PAYMENT), () => off('one'), () => bring('one', named('short'))]) {
    for (let times = 0; times < 2; times += 1) expect(await open().take()).toBe(true);
    expect(await open().giveBack()).toBeUndefined();
  }
  const shown = identifiedPayment({ ...options('required') }, {} as Request, undefined, {
    id: 'one',
    payer: 'a wallet',
  });
  expect(await shown.take()).toBeUndefined();
});

describe('what is wrong with an identifier', () => {
  test.each<[ResolvedPaymentOptions['paymentIdentifier'], Payment, RegExp | undefined]>([
    ['optional', named(ID), undefined],
    ['optional', PAYMENT, undefined],
    ['optional', named('short'), /16 to 128/],
    ['required', named(ID), undefined],
    ['required', PAYMENT, /is paid with the extension "payment-identifier"/],
    ['required', named(null), /is paid with the extension/],
    ['required', named('x'.repeat(129)), /16 to 128/],
    ['off', PAYMENT, undefined],
    ['off', named('short'), undefined],
  ])('is told where it is %s', (paymentIdentifier, payment, fault) => {
    const told = identifierFault(options(paymentIdentifier), payment);
    if (fault === undefined) expect(told).toBeUndefined();
    else expect(told).toMatch(fault);
  });
});
