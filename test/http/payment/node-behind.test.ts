import type { PaymentRequirements } from '@x402/core/types';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { type LyingNode, startLyingNode } from '../../helpers/nodes/lying-node.js';
import { askTerms, type SignedPayment, signTerms } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

describe('a payment of a blockhash that its 402 handed out, at a node that does not know it yet', () => {
  let fixture: TollFixture;
  let node: LyingNode;
  let url: string;
  let simulations: boolean[];

  beforeAll(async () => {
    fixture = await openTollFixture();
    node = await startLyingNode(fixture);
    node.twist = ({ method, params: [, options] }) => {
      if (method === 'simulateTransaction')
        simulations.push(Reflect.get(Object(options), 'replaceRecentBlockhash') === true);
    };
    const facilitator = fixture.facilitatorWith({ rpcUrl: node.url });
    const sold = { facilitator, payTo: fixture.payTo, price: '$0.01' };
    const base = await fixture.serve((app) =>
      app.get('/report', requirePayment(sold), (_req, res) => res.send('paid')),
    );
    url = `${base}/report`;
  });
  beforeEach(() => {
    simulations = [];
  });
  afterAll(async () => {
    await node.close();
    await fixture.close();
  });

  async function offered(): Promise<PaymentRequirements> {
    const [accepted] = (await askTerms(url)).accepts;
    if (accepted === undefined) throw new Error('nothing is offered');
    return accepted;
  }

  /** A 402 waits for no node: the first ones name no blockhash. */
  async function signOffered(): Promise<SignedPayment> {
    await until(async () => (await offered()).extra?.['recentBlockhash'] !== undefined);
    const accepted = await offered();
    return signTerms(fixture, accepted, String(accepted.extra?.['recentBlockhash']));
  }

  async function bring({ v2 }: SignedPayment): Promise<string> {
    const answer = await fetch(url, { headers: v2 });
    const text = await answer.text();
    return answer.status === 200 ? text : `${answer.status} ${JSON.parse(text).code}`;
  }

  function isBehind(isEverBehind: boolean): void {
    node.lie = (method, result) => {
      const isKnown = method !== 'simulateTransaction' || (simulations.at(-1) === true && !isEverBehind);
      return isKnown ? result : { ...Object(result), value: { err: 'BlockhashNotFound', logs: [], accounts: null } };
    };
  }

  test('is simulated with one that the node knows, and taken', async () => {
    isBehind(false);

    expect(await bring(await signOffered())).toBe('paid');
    expect(simulations).toEqual([false, true]);
  });

  test('is told to come again where the node knows none, costs nothing meanwhile, and is taken then', async () => {
    isBehind(true);
    const payment = await signOffered();
    expect(await bring(payment)).toBe('503 payment_backend_unavailable');

    node.lie = (_method, result) => result;
    expect(await bring(payment)).toBe('paid');
  });

  test('is refused where the blockhash is none of ours', async () => {
    isBehind(false);

    expect(await bring(await signTerms(fixture, await offered(), fixture.payTo))).toBe('402 payment_invalid');
    expect(simulations).toEqual([false]);
  });
});
