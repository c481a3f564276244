import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { type LyingNode, startLyingNode } from '../../helpers/nodes/lying-node.js';
import { buildDraft } from '../../helpers/transactions/draft.js';
import { headerV2, refusalOf, useArena } from '../../helpers/transactions/hostile.js';

const arena = useArena();
let node: LyingNode;
let url: string;
let runs = 0;

beforeAll(async () => {
  const { fixture } = arena();
  const { asset, amount, payTo } = arena().terms();
  node = await startLyingNode(fixture, { settleTimeoutMs: 1_000 });
  url = await fixture.serve((app) => {
    const gate = requirePayment({
      facilitator: node.facilitator,
      price: { asset, amount },
      payTo,
      commitment: 'finalized',
    });
    app.get('/', gate, (_req, res) => {
      runs += 1;
      res.json({ secret: 'in the body' });
    });
  });
});
afterAll(() => node.close());

/** As long as its fork lives, the node sees every transaction in a confirmed block. */
function onFork(method: string, result: unknown): unknown {
  if (method !== 'getSignatureStatuses') return result;
  const { context } = result as { context: { slot: number } };
  return { context, value: [{ slot: context.slot, confirmations: 2, err: null, confirmationStatus: 'confirmed' }] };
}

test('a confirmed payment that disappears before it is final releases nothing where finality is asked for', async () => {
  const { sandbox } = arena().fixture;
  const terms = arena().terms();
  const { draft } = await arena().honest(terms);
  const headers = headerV2(buildDraft(draft), terms);
  const drop = sandbox.faults.add({ kind: 'drop' });
  node.lie = onFork;
  const before = sandbox.balance(terms.feePayer!);
  const first = await fetch(url, { headers });
  expect(first.status).toBe(503);
  expect(await first.text()).not.toContain('in the body');

  node.lie = (_method, result) => result;
  const reason = 'invalid_exact_svm_transaction_expired';
  const last = { status: 503 as number, reason: undefined as unknown };
  while (last.status === 503) {
    // The end of a blockhash that somebody else has asked for is reckoned from a look at the chain.
    sandbox.expireBlockhashes();
    Object.assign(last, await refusalOf(await fetch(url, { headers })));
  }
  expect(last).toEqual({ status: 402, reason });
  expect(before - sandbox.balance(terms.feePayer!)).toBe(0n);
  expect(runs).toBe(1);
  drop.remove();
});

test('a payment that becomes final is served', async () => {
  const terms = arena().terms();
  const { draft } = await arena().honest(terms);
  const headers = headerV2(buildDraft(draft), terms);
  const before = runs;
  let answer = await fetch(url, { headers });
  while (answer.status === 503) answer = await fetch(url, { headers });
  expect([answer.status, await answer.json()]).toEqual([200, { secret: 'in the body' }]);
  expect(runs - before).toBe(1);
});
