import { VersionedTransaction } from '@solana/web3.js';
import {
  CALL_PRICE,
  type ClientResponse,
  type MadeProject,
  proofHeader,
} from '../../helpers/fixtures/gateway-client.js';
import { type Caller, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { transferDirectly } from '../../helpers/transactions/direct-transfer.js';

const fixture = useGatewayFixture();

const outcome = ({ status, body }: ClientResponse) => [status, body['code']];
const SERVED = [200, undefined];

let caller: Caller;
let project: MadeProject;
beforeAll(async () => {
  caller = await fixture().newCaller();
});
beforeEach(async () => {
  project = await fixture().newProject();
});

interface Asked {
  readonly id: string;
  readonly reference: string;
  /** Signed by the caller's wallet, base64. */
  readonly signed: string;
}

/** A request for a call of the project, and the transaction that pays it. */
async function asked(): Promise<Asked> {
  const { client } = fixture();
  const payer = caller.wallet.publicKey.toBase58();
  const recipient = project.split[0]?.recipient;
  const wanted = { amount: '0.012347', token: 'USDC', recipient, project: project.slug, payer };
  const { body } = await client.ask('POST', '/create-payment', wanted, caller.key.headers);
  const { serialized } = body['transaction'] as { readonly serialized: string };
  const transaction = VersionedTransaction.deserialize(Buffer.from(serialized, 'base64'));
  transaction.sign([caller.wallet]);
  const signed = Buffer.from(transaction.serialize()).toString('base64');
  return { id: String(body['payment_id']), reference: String(body['reference']), signed };
}

const settle = ({ id, signed }: Asked) =>
  fixture().client.ask('POST', '/settle', { payment_id: id, signed_transaction: signed });
const prepare = ({ id }: Asked, who: 'account' | 'payer') =>
  fixture().client.ask('POST', `/payments/${id}/transaction`, { [who]: caller.wallet.publicKey.toBase58() });
const stateOf = async ({ id }: Asked) => (await fixture().client.ask('GET', `/payments/${id}`)).body;
const show = (signature: string) =>
  fixture().client.call(project.slug, { headers: { ...caller.key.headers, ...proofHeader(signature) } });

function money(): bigint {
  const { sandbox, facilitator } = fixture();
  return sandbox.tokenBalance(caller.wallet.publicKey.toBase58(), facilitator.tokens[0]!.mint);
}

async function turn(to: 'paused' | 'deleted' | 'active'): Promise<void> {
  const { asOwner, client } = fixture();
  const path = `/api/v1/projects/${project.id}`;
  const done = {
    paused: () => client.ask('POST', `${path}/pause`, undefined, asOwner),
    active: () => client.ask('POST', `${path}/resume`, undefined, asOwner),
    deleted: () => client.ask('DELETE', path, undefined, asOwner),
  };
  expect((await done[to]()).status).toBeLessThan(300);
}

describe.each([
  ['paused', 503, 'project_paused', /paused.*nothing was charged/],
  ['deleted', 404, 'project_not_found', /deleted.*nothing was charged/],
] as const)('a project that is %s takes no money', (state, status, code, detail) => {
  test('no transaction is handed out for a request of before, and none is sent', async () => {
    const request = await asked();
    await turn(state);
    const before = money();
    for (const answer of [await prepare(request, 'account'), await prepare(request, 'payer'), await settle(request)]) {
      expect(outcome(answer)).toEqual([status, code]);
      expect(answer.body['detail']).toMatch(detail);
      expect(answer.headers.get('retry-after')).toBe(state === 'paused' ? '60' : null);
    }
    expect(money()).toBe(before);
    expect(await stateOf(request)).toMatchObject({ status: 'created', tx_signature: null });
  });

  test('what was settled before keeps its answer', async () => {
    const request = await asked();
    const settled = await settle(request);
    expect(outcome(settled)).toEqual(SERVED);
    await turn(state);
    const again = await settle(request);
    expect([again.status, again.body]).toEqual([200, settled.body]);
    const { tx_signature } = settled.body;
    expect(await stateOf(request)).toMatchObject({ status: 'settled', tx_signature });
    expect(outcome(await prepare(request, 'account'))).toEqual([400, 'payment_already_settled']);
  });

  test('what a wallet has paid by itself is seen all the same', async () => {
    const request = await asked();
    await turn(state);
    const legs = [{ recipient: String(project.split[0]?.recipient), amount: CALL_PRICE }];
    const paid = { wallet: caller.wallet, legs, names: [request.reference] };
    const tx_signature = await transferDirectly(fixture().sandbox, paid);
    expect(await stateOf(request)).toMatchObject({ status: 'settled', tx_signature });
    expect(outcome(await settle(request))).toEqual([400, 'payment_already_settled']);
  });
});

test('a project that goes on takes the same transaction', async () => {
  const request = await asked();
  await turn('paused');
  expect(outcome(await settle(request))).toEqual([503, 'project_paused']);
  await turn('active');
  const settled = await settle(request);
  expect(outcome(settled)).toEqual(SERVED);
  expect(outcome(await show(String(settled.body['tx_signature'])))).toEqual(SERVED);
});
