import type { Keypair } from '@solana/web3.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { USDC } from '../../helpers/crash/crash-fixture.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { testClock } from '../../helpers/test-clock.js';
import { emptyWallet } from '../../helpers/transactions/empty-wallet.js';
import { type SignedPayment, signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const TWENTY = 20;
const PRICE = 10_000n;
const FEE = 10_001n;
const MINUTE_MS = 60_000;

let fixture: TollFixture;
beforeAll(async () => {
  fixture = await openTollFixture({ maxBlockhashAgeBlocks: 10_000 });
});
afterEach(() => fixture.sandbox.faults.clear());
afterAll(() => fixture.close());

interface Reply {
  readonly status: number;
  readonly reason: unknown;
  readonly detail: unknown;
}

/** A seller with a fee payer of its own, so that its losses are told from those of others. */
async function openShop(options: Parameters<TollFixture['facilitatorWith']>[0] = {}) {
  const { sandbox } = fixture;
  const feePayer = await sandbox.createWallet({ sol: '1' });
  const payTo = (await sandbox.createWallet({ usdc: '0' })).publicKey.toBase58();
  const facilitator = fixture.facilitatorWith({ keypair: feePayer, ...options });
  let fails = false;
  const url = await fixture.serve((app) => {
    for (const settle of ['after', 'before'] as const) {
      const gate = requirePayment({ facilitator, payTo, price: '$0.01', settle });
      app.get(`/${settle}`, gate, (_req, res) => void res.status(fails ? 500 : 200).send('sold'));
    }
  });
  const start = sandbox.balance(feePayer.publicKey.toBase58());
  const pay = async (path: string, { v2 }: SignedPayment): Promise<Reply> => {
    const answer = await fetch(url + path, { headers: v2 });
    const text = await answer.text();
    const body = text.startsWith('{') ? JSON.parse(text) : {};
    return { status: answer.status, reason: body.reason ?? body.error, detail: body.detail };
  };
  return {
    facilitator,
    pay,
    sign: (payer: Keypair, path = '/after') => signPayment({ sandbox, payer }, url + path),
    lost: () => start - sandbox.balance(feePayer.publicKey.toBase58()),
    earned: () => sandbox.tokenBalance(payTo, USDC),
    /** Makes the handler fail, or well again. */
    failing: (it: boolean) => {
      fails = it;
    },
    /** So many at once, each signed by itself. */
    async payAtOnce(payer: Keypair, path: string, count: number): Promise<readonly Reply[]> {
      const signed: SignedPayment[] = [];
      for (let at = 0; at < count; at += 1) signed.push(await signPayment({ sandbox, payer }, url + path));
      return Promise.all(signed.map((it) => pay(path, it)));
    },
    /** A payment that the node lets pass and that fails when it lands: its money is gone by then. */
    async payAndDrain(payer: Keypair, path = '/after'): Promise<Reply> {
      const signed = await signPayment({ sandbox, payer }, url + path);
      sandbox.faults.add({ kind: 'late', slots: 10, times: 1 });
      const { sendTransaction } = sandbox.calls;
      const paying = pay(path, signed);
      await until(() => sandbox.calls.sendTransaction > sendTransaction);
      emptyWallet(sandbox, payer, USDC);
      const reply = await paying;
      sandbox.fundToken(payer.publicKey.toBase58(), USDC, 1_000_000n);
      return reply;
    },
  };
}

/** The calls of verifying and settling. */
function chainCalls() {
  const { simulateTransaction, sendTransaction, getMultipleAccounts, getSignatureStatuses } = fixture.sandbox.calls;
  return { simulateTransaction, sendTransaction, getMultipleAccounts, getSignatureStatuses };
}

function tally(replies: readonly Reply[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { status, reason } of replies) {
    const told = status === 200 ? '200' : `${status} ${reason}`;
    counts[told] = (counts[told] ?? 0) + 1;
  }
  return counts;
}

describe.each(['/after', '/before'])('twenty payments at once, %s', (path) => {
  test('from a wallet with money for one: one is served, the others cost the fee payer nothing', async () => {
    const shop = await openShop();
    const payer = await fixture.sandbox.createWallet({ usdc: '0.01' });
    // Late enough for all of them to come before the first has landed.
    fixture.sandbox.faults.add({ kind: 'late', slots: 50 });
    const replies = await shop.payAtOnce(payer, path, TWENTY);
    expect(tally(replies)).toEqual({ '200': 1, '402 insufficient_funds': TWENTY - 1 });
    expect([shop.lost(), shop.earned()]).toEqual([FEE, PRICE]);
    const turned = replies.find(({ status }) => status === 402);
    expect(turned?.detail).toMatch(/on their way/);
  });

  test('from a wallet with money for exactly twenty: all are served', async () => {
    const shop = await openShop();
    for (const slots of [undefined, 1, 4]) {
      const payer = await fixture.sandbox.createWallet({ usdc: '0.2' });
      if (slots !== undefined) fixture.sandbox.faults.add({ kind: 'late', slots });
      expect(tally(await shop.payAtOnce(payer, path, TWENTY))).toEqual({ '200': TWENTY });
      fixture.sandbox.faults.clear();
    }
    expect([shop.lost(), shop.earned()]).toEqual([FEE * 60n, PRICE * 60n]);
  });

  test('one after the other from a wallet with money for all of them: all are served', async () => {
    const shop = await openShop();
    const payer = await fixture.sandbox.createWallet({ usdc: '0.05' });
    for (let at = 0; at < 5; at += 1) {
      expect(await shop.pay(path, await shop.sign(payer, path))).toMatchObject({ status: 200 });
    }
    expect(shop.earned()).toBe(PRICE * 5n);
  });
});

test('what a failed handler did not charge is there for the next payment of its wallet', async () => {
  const shop = await openShop();
  const payer = await fixture.sandbox.createWallet({ usdc: '0.01' });
  shop.failing(true);
  for (let at = 0; at < 3; at += 1) {
    expect(await shop.pay('/after', await shop.sign(payer))).toMatchObject({ status: 500 });
  }
  shop.failing(false);
  expect(await shop.pay('/after', await shop.sign(payer))).toMatchObject({ status: 200 });
  expect(shop.lost()).toBe(FEE);
});

test('a payer whose transaction landed and failed waits, longer each time, and nobody else does', async () => {
  const { now, advance } = testClock(Date.now());
  const shop = await openShop({ now });
  const [hostile, honest] = [
    await fixture.sandbox.createWallet({ usdc: '1' }),
    await fixture.sandbox.createWallet({ usdc: '1' }),
  ];
  const early = await shop.sign(hostile);
  for (const waitMs of [MINUTE_MS, 2 * MINUTE_MS]) {
    const before = shop.lost();
    expect(await shop.payAndDrain(hostile)).toMatchObject({ status: 402 });
    expect(shop.lost() - before).toBe(FEE);
    const asked = chainCalls();
    for (const path of ['/after', '/before']) {
      expect(await shop.pay(path, await shop.sign(hostile, path))).toMatchObject({
        status: 402,
        reason: 'payer_must_wait',
        detail: expect.stringContaining(`in ${waitMs / 1_000} seconds`),
      });
    }
    expect(chainCalls()).toEqual(asked);
    expect(shop.lost() - before).toBe(FEE);
    expect(await shop.pay('/after', await shop.sign(honest))).toMatchObject({ status: 200 });
    await advance(waitMs + 1);
  }
  expect(await shop.pay('/after', early)).toMatchObject({ status: 200 });
});

test('a payer uses no more than a fifth of the fees of an hour, and the others do not notice', async () => {
  const { now, advance } = testClock(Date.now());
  const shop = await openShop({ now, maxFeeLamportsPerHour: 110_000n });
  const [busy, other] = [
    await fixture.sandbox.createWallet({ usdc: '1' }),
    await fixture.sandbox.createWallet({ usdc: '1' }),
  ];
  for (let at = 0; at < 2; at += 1) {
    expect(await shop.pay('/after', await shop.sign(busy))).toMatchObject({ status: 200 });
  }
  const third = await shop.sign(busy);
  expect(await shop.pay('/after', third)).toMatchObject({ status: 402, reason: 'payer_fee_limit_reached' });
  expect(await shop.pay('/before', await shop.sign(busy, '/before'))).toMatchObject({ status: 402 });
  expect(shop.lost()).toBe(FEE * 2n);
  expect(await shop.facilitator.health()).toMatchObject({ status: 'active', faults: [] });
  expect(await shop.pay('/after', await shop.sign(other))).toMatchObject({ status: 200 });
  await advance(60 * MINUTE_MS + 1);
  expect(await shop.pay('/after', third)).toMatchObject({ status: 200 });
});
