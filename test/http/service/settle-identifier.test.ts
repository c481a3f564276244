import { randomUUID } from 'node:crypto';
import { createRouter } from '../../../src/http/create-router.js';
import { PAYMENT_IDENTIFIER } from '../../../src/protocol/payment-identifier.js';
import { encodeFacilitatorRequest } from '../../../src/protocol/wire/remote.js';
import { createMemoryIdempotencyStore } from '../../../src/storage/idempotency/memory-idempotency-store.js';
import { openTollFixture, QUICK, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { type RpcProxy, startRpcProxy } from '../../helpers/nodes/rpc-proxy.js';
import { testClock } from '../../helpers/test-clock.js';
import { offeredTerms, payTerms } from '../../helpers/transactions/core-payments.js';

/** Longer than a settlement is believed to be at work that is not heard of. */
const LONGER_MS = 130_000;

describe('the identifier of a payment whose settlement is taken for dead while it lives', () => {
  let fixture: TollFixture;
  let proxy: RpcProxy;
  let clock: ReturnType<typeof testClock>;
  let url: string;
  let letGo = (): void => undefined;

  beforeEach(async () => {
    fixture = await openTollFixture();
    proxy = await startRpcProxy(fixture.sandbox.rpcUrl);
    clock = testClock();
    const idempotency = createMemoryIdempotencyStore({ now: clock.now });
    const facilitator = fixture.facilitatorWith({ idempotency, rpcUrl: proxy.url }, QUICK);
    url = await fixture.serve((app) => app.use(createRouter({ facilitator, limits: false })));
  });
  afterEach(async () => {
    letGo();
    await fixture.close();
    await proxy.close();
  });

  async function settle(body: unknown) {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${url}/settle`, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: answer.status, body: JSON.parse(await answer.text()) };
  }

  async function payUnder(id: string) {
    const payer = await fixture.sandbox.createWallet({ usdc: '1' });
    const terms = await offeredTerms(fixture.facilitator, fixture.payTo);
    const extensions = { [PAYMENT_IDENTIFIER]: { info: { required: false, id } } };
    return encodeFacilitatorRequest({ ...(await payTerms({ ...fixture, payer }, terms)), extensions }, terms);
  }

  test('stays with the one that was sent, and no second payment is taken under it', async () => {
    const id = `pay_${randomUUID()}`;
    const [first, second] = [await payUnder(id), await payUnder(id)];
    const sent = new Promise<void>((resolve) => {
      proxy.decide = async ({ method }) => {
        if (method !== 'sendTransaction') return 'pass' as const;
        resolve();
        await new Promise<void>((free) => {
          letGo = free;
        });
        return 'pass' as const;
      };
    });
    const settling = settle(first);
    await sent;
    await clock.advance(LONGER_MS);
    expect((await settle(first)).body).toMatchObject({ success: false, errorReason: 'settlement_in_progress' });
    proxy.decide = () => 'pass';
    const other = await settle(second);
    expect([other.status, other.body.code]).toEqual([409, 'payment_identifier_conflict']);
    letGo();
    expect((await settling).body).toMatchObject({ success: true });
  });
});
