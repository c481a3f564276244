import type { PaymentRequirements } from '@x402/core/types';
import type { FacilitatorOptions } from '../../../src/facilitator/facilitator-options.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { startSandbox } from '../../../src/sandbox/start-sandbox.js';
import { openTollFixture, QUICK, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { type LaggingNode, startLaggingNode } from '../../helpers/nodes/lagging-node.js';
import { askTerms, signPayment, signTerms } from '../../helpers/transactions/payments.js';

const PRICE = 10_000n;
const LAG = 60;
/** What it is behind by the clock of a chain whose slots take 400 ms. */
const LAG_MS = LAG * 400;

let fixture: TollFixture;
let node: LaggingNode;

beforeAll(async () => {
  fixture = await openTollFixture();
});
beforeEach(async () => {
  node = await startLaggingNode(fixture.sandbox);
  fixture.sandbox.advanceSlots(LAG + 5);
  Object.assign(node, { slotsBehind: LAG, clockBehindMs: LAG_MS });
});
afterEach(() => node.close());
afterAll(() => fixture.close());

/** A shop on its own facilitator, and what it was asked to do. */
async function openShop(options: Partial<FacilitatorOptions>) {
  const facilitator = fixture.facilitatorWith(
    { blockhashHints: false, ...options },
    options.blockhashHints ? {} : QUICK,
  );
  const sold = { facilitator, payTo: fixture.payTo, price: '$0.01' };
  const shop = { facilitator, url: '', served: 0 };
  shop.url = await fixture.serve((app) => {
    for (const settle of ['after', 'before'] as const)
      app.get(`/${settle}`, requirePayment({ ...sold, settle }), (_req, res) => {
        shop.served += 1;
        res.send('paid');
      });
  });
  return shop;
}

function held(): bigint {
  const { sandbox, payer } = fixture;
  return sandbox.tokenBalance(payer.publicKey.toBase58(), sandbox.tokens[0]?.mint ?? '');
}

async function bring(url: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const answer = await fetch(url, { headers });
  const text = await answer.text();
  return answer.status === 200 ? text : `${answer.status} ${JSON.parse(text).code}`;
}

test('a second node that is of another chain, which is far ahead, takes no payment from the first', async () => {
  const other = await startSandbox({ network: 'solana', slotMs: 0 });
  try {
    other.advanceSlots(5_000);
    const shop = await openShop({ rpcUrl: [fixture.sandbox.rpcUrl, other.rpcUrl] });
    const before = held();
    const { v2 } = await signPayment(fixture, `${shop.url}/after`);
    expect(await bring(`${shop.url}/after`, v2)).toBe('paid');
    expect([shop.served, before - held()]).toEqual([1, PRICE]);
  } finally {
    await other.close();
  }
});

describe('two nodes, the first of which lags behind', () => {
  test.each(['after', 'before'])('take every payment where the route settles %s, each charged once', async (settle) => {
    const shop = await openShop({ rpcUrl: [node.url, fixture.sandbox.rpcUrl] });
    const before = held();
    for (let times = 1; times <= 3; times += 1) {
      const { v2 } = await signPayment(fixture, `${shop.url}/${settle}`);
      expect(await bring(`${shop.url}/${settle}`, v2)).toBe('paid');
      expect([shop.served, before - held()]).toEqual([times, PRICE * BigInt(times)]);
    }
  });

  test('offer the blockhashes of the good one, from the first on', async () => {
    const shop = await openShop({ rpcUrl: [node.url, fixture.sandbox.rpcUrl], blockhashHints: true });
    let offered: PaymentRequirements | undefined;
    while (offered?.extra?.['recentBlockhash'] === undefined) [offered] = (await askTerms(`${shop.url}/after`)).accepts;

    expect(node.calls).not.toContain('getLatestBlockhash');
    const { v2 } = await signTerms(fixture, offered, String(offered.extra['recentBlockhash']));
    expect(await bring(`${shop.url}/after`, v2)).toBe('paid');
  });

  test('are told of with the host of the first, and nothing of its key', async () => {
    const { facilitator } = await openShop({ rpcUrl: [node.url, fixture.sandbox.rpcUrl] });
    const { host } = new URL(node.url);
    const health = await facilitator.health();
    const { ok, findings } = await facilitator.check();

    expect(health).toMatchObject({ status: 'degraded', faults: ['rpc_behind'], behind: [{ host }] });
    expect([ok, findings]).toEqual([true, [expect.objectContaining({ code: 'rpc_behind', about: host })]]);
    expect(JSON.stringify([health.behind, findings])).not.toContain('hidden');
  });

  test('refuse a blockhash that neither knows, and charge nothing', async () => {
    const shop = await openShop({ rpcUrl: [node.url, fixture.sandbox.rpcUrl] });
    const [offered] = (await askTerms(`${shop.url}/after`)).accepts;
    if (offered === undefined) throw new Error('nothing is offered');
    const before = held();
    const { v2 } = await signTerms(fixture, offered, fixture.payTo);

    expect(await bring(`${shop.url}/after`, v2)).toBe('402 payment_invalid');
    expect([shop.served, held()]).toEqual([0, before]);
  });

  test('are asked for payments both again, in their order, once the first has caught up', async () => {
    const shop = await openShop({ rpcUrl: [node.url, fixture.sandbox.rpcUrl] });
    Object.assign(node, { slotsBehind: 0, clockBehindMs: 0 });
    const { v2 } = await signPayment(fixture, `${shop.url}/after`);

    expect(await bring(`${shop.url}/after`, v2)).toBe('paid');
    expect(node.calls).toEqual(expect.arrayContaining(['simulateTransaction', 'sendTransaction']));
  });
});

describe('a node that lags behind, and is the only one', () => {
  test.each(['after', 'before'])(
    'has a payment come again where the route settles %s, and takes it when it has caught up',
    async (settle) => {
      const shop = await openShop({ rpcUrl: node.url, wsUrl: undefined });
      const before = held();
      const { v2 } = await signPayment(fixture, `${shop.url}/${settle}`);
      expect(await bring(`${shop.url}/${settle}`, v2)).toBe('503 payment_backend_unavailable');
      expect([shop.served, held()]).toEqual([0, before]);

      Object.assign(node, { slotsBehind: 0, clockBehindMs: 0 });
      expect(await bring(`${shop.url}/${settle}`, v2)).toBe('paid');
      expect([shop.served, before - held()]).toEqual([1, PRICE]);
    },
  );
});
