import { decodePaymentSignatureHeader, encodePaymentSignatureHeader } from '@x402/core/http';
import { PAYMENT_IDENTIFIER } from '../../src/protocol/payment-identifier.js';
import { type FaultFixture, openFaultFixture } from '../helpers/crash/fault-fixture.js';
import type { Order, Reply } from '../helpers/crash/orders.js';
import { openIdentity, requestWith } from '../helpers/fixtures/identity-fixture.js';
import { createGate } from '../helpers/transactions/payments.js';
import { walletKey } from '../helpers/transactions/wallet-key.js';
import { until } from '../helpers/until.js';

const PAYERS = 8;
const HOUR_MS = 3_600_000;
const SERVED = '200';
const JUMPS = [
  ['an hour ahead', HOUR_MS],
  ['an hour back', -HOUR_MS],
] as const;

/** The wall clock of a server and of its database. */
let clock = Date.now;
const now = (): number => clock();
const jump = (milliseconds: number): void => {
  const before = clock;
  clock = () => before() + milliseconds;
};

describe.each(JUMPS)('when the clock jumps %s', (_where, milliseconds) => {
  let fixture: FaultFixture;
  beforeAll(async () => {
    fixture = await openFaultFixture();
  });
  beforeEach(() => {
    clock = Date.now;
  });
  afterEach(() => fixture.sandbox.resumeSlots());
  afterAll(() => fixture.close());

  test('between the offer and the payment, payers are served', async () => {
    const shop = await fixture.openShop({ clock: now });
    const orders = await shop.orders(PAYERS);
    jump(milliseconds);
    const replies = await shop.send(orders);
    shop.expectTold(replies, [SERVED]);
    await shop.expectGood(orders, replies);
  });

  test('while handlers are at work, a copy of the payment is not served beside the first', async () => {
    const shop = await fixture.openShop({ clock: now });
    const orders = await shop.orders(PAYERS);
    const gate = createGate();
    let entered = 0;
    shop.inHandler = () => {
      entered += 1;
      return gate.opened;
    };
    const first = shop.send(orders);
    await until(() => entered === PAYERS);
    jump(milliseconds);
    const copies = await shop.send(orders);
    gate.open();
    shop.expectTold(copies, ['409 payment_in_progress']);
    shop.expectTold(await first, [SERVED]);
    expect(entered).toBe(PAYERS);
    await shop.expectGood(orders, await first);
  });

  test('while transactions are on their way, each payer is served, and a copy is not', async () => {
    const shop = await fixture.openShop({ clock: now });
    const orders = await shop.orders(PAYERS);
    fixture.sandbox.resetCalls();
    fixture.sandbox.pauseSlots();
    const first = shop.send(orders);
    await until(() => fixture.sandbox.calls.sendTransaction === PAYERS);
    jump(milliseconds);
    const copies = await shop.send(orders);
    fixture.sandbox.resumeSlots();
    shop.expectTold(copies, ['409 payment_in_progress']);
    shop.expectTold(await first, [SERVED]);
    await shop.expectGood(orders, await first);
  });

  test('an answer that was paid for under an identifier can be had again, and is not paid twice', async () => {
    const shop = await fixture.openShop({ clock: now });
    const orders = (await shop.orders(PAYERS)).map(identified);
    const replies = await shop.send(orders);
    jump(milliseconds);
    const again = await shop.send(orders);
    shop.expectTold([...replies, ...again], [SERVED]);
    await shop.expectFair(
      orders,
      orders.map(() => true),
    );
  });
});

test('an answer under an identifier is forgotten after a day, and its payment is not', async () => {
  const fixture = await openFaultFixture();
  clock = Date.now;
  const shop = await fixture.openShop({ clock: now });
  const orders = (await shop.orders(PAYERS)).map(identified);
  const replies = await shop.send(orders);
  jump(25 * HOUR_MS);
  const again: readonly Reply[] = await shop.send(orders);
  shop.expectTold(replies, [SERVED]);
  shop.expectTold(again, ['402 payment_already_used']);
  await shop.expectFair(
    orders,
    orders.map(() => true),
  );
  await fixture.close();
});

test.each(JUMPS)(
  'an access token, %s: refused as expired, or good for longer, never good for another',
  async (_where, by) => {
    const alice = walletKey('alice');
    const { identity, advance } = openIdentity();
    const { message, nonce } = await identity.issueChallenge(
      alice.address,
      'https://shop.example/club',
      'https://shop.example/club',
    );
    const tokens = await identity.exchange({ wallet: alice.address, nonce, signature: alice.sign(message) });
    const prove = (token: string) => identity.prove(requestWith({ authorization: `Bearer ${token}` }));
    advance(by);
    const expected = by > 0 ? { status: 'refused', code: 'token_expired' } : { status: 'proven' };
    expect(await prove(tokens.accessToken)).toMatchObject(expected);
    const renewed = await identity.refresh(tokens.refreshToken);
    expect(await prove(renewed.accessToken)).toMatchObject({ status: 'proven', wallet: { address: alice.address } });
  },
);

/** The same order under an identifier of its own. */
function identified({ init, ...order }: Order): Order {
  const header = new Headers(init.headers).get('payment-signature') ?? '';
  const extensions = {
    [PAYMENT_IDENTIFIER]: { info: { required: false, id: `pay_${order.wallet.publicKey.toBase58()}` } },
  };
  const named = encodePaymentSignatureHeader({ ...decodePaymentSignatureHeader(header), extensions });
  return { ...order, init: { ...init, headers: { 'payment-signature': named } } };
}
