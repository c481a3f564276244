import { VersionedTransaction } from '@solana/web3.js';
import { SOL_MINT } from '../../../src/protocol/networks/tokens.js';
import { NATIVE_SOL } from '../../../src/solana/transaction/programs.js';
import { type ClientResponse, type MadeProject, proofHeader } from '../../helpers/fixtures/gateway-client.js';
import { type Caller, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { transferDirectly } from '../../helpers/transactions/direct-transfer.js';
import { signPayment } from '../../helpers/transactions/payments.js';

const fixture = useGatewayFixture();
const SOL = 1_000_000_000n;

const outcome = ({ status, body }: ClientResponse) => [status, body['code']];
const SERVED = [200, undefined];
const REFUSED = [403, 'spending_limit_reached'];

let project: MadeProject;
beforeAll(async () => {
  const { newProject, owner, sandbox } = fixture();
  project = await newProject({ pricing: { amount: '1', token: 'SOL' } });
  sandbox.fundToken(owner.publicKey.toBase58(), SOL_MINT, 0n);
});

/** A wallet with ten SOL of each kind, and a key that may spend so many. */
async function callerWith(limit: string): Promise<Caller> {
  const { newCaller, sandbox } = fixture();
  const caller = await newCaller({ spending: { limit, token: 'SOL', window: 'total' } });
  const address = caller.wallet.publicKey.toBase58();
  sandbox.airdrop(address, 10n * SOL);
  sandbox.fundToken(address, SOL_MINT, 10n * SOL);
  return caller;
}

function makeRequest({ wallet, key }: Caller, token = 'SOL'): Promise<ClientResponse> {
  const recipient = project.split[0]?.recipient;
  const wanted = { amount: '1', token, recipient, project: project.slug, payer: wallet.publicKey.toBase58() };
  return fixture().client.ask('POST', '/create-payment', wanted, key.headers);
}

async function payRequest(caller: Caller, token = 'SOL'): Promise<string> {
  const { client } = fixture();
  const { wallet } = caller;
  const { status, body } = await makeRequest(caller, token);
  expect([status, body['detail']]).toEqual([200, undefined]);
  const { serialized } = body['transaction'] as { readonly serialized: string };
  const transaction = VersionedTransaction.deserialize(Buffer.from(serialized, 'base64'));
  transaction.sign([wallet]);
  const signed_transaction = Buffer.from(transaction.serialize()).toString('base64');
  const settled = await client.ask('POST', '/settle', { payment_id: body['payment_id'], signed_transaction });
  expect(settled.status).toBe(200);
  return String(settled.body['tx_signature']);
}

function payDirectly({ wallet, key }: Caller, token: 'SOL' | 'native'): Promise<string> {
  const legs = [{ recipient: String(project.split[0]?.recipient), amount: SOL }];
  const memos = [`tollhouse:${project.slug}:${key.id}`];
  return transferDirectly(fixture().sandbox, { wallet, legs, memos, token });
}

const show = ({ key }: Caller, signature: string) =>
  fixture().client.call(project.slug, { headers: { ...key.headers, ...proofHeader(signature) } });

async function payByX402({ wallet, key }: Caller): Promise<ClientResponse> {
  const { client, sandbox } = fixture();
  const init = { headers: key.headers };
  const { v2 } = await signPayment({ sandbox, payer: wallet }, `${client.url}/v1/${project.slug}`, { init });
  return client.call(project.slug, { headers: { ...key.headers, ...v2 } });
}

async function spendingOf({ wallet, key }: Caller) {
  const { client } = fixture();
  const { body } = await client.ask('GET', `/api/v1/spending?key=${key.id}`, undefined, await client.signIn(wallet));
  return body;
}

test('a budget of one SOL lets one SOL be paid, in whatever form; what a wallet has paid all the same is served and counted', async () => {
  const caller = await callerWith('1');
  expect(outcome(await show(caller, await payRequest(caller)))).toEqual(SERVED);
  const used = { token: 'SOL', mint: SOL_MINT, limit: '1', used: '1', left: '0' };
  expect(await spendingOf(caller)).toMatchObject({ budgets: [used] });
  const before = fixture().hits();
  for (const token of ['SOL', SOL_MINT, NATIVE_SOL]) {
    expect(outcome(await makeRequest(caller, token))).toEqual(REFUSED);
  }
  expect(outcome(await payByX402(caller))).toEqual(REFUSED);
  expect(fixture().hits()).toBe(before);
  for (const token of ['native', 'SOL'] as const) {
    expect(outcome(await show(caller, await payDirectly(caller, token)))).toEqual(SERVED);
  }
  expect(await spendingOf(caller)).toMatchObject({ budgets: [{ used: '3', left: '0' }] });
});

test('native and wrapped SOL are one money in budgets and figures, and each call says how it was paid', async () => {
  const { asOwner, client, newProject } = fixture();
  project = await newProject({ pricing: { amount: '1', token: 'SOL' } });
  const caller = await callerWith('6');
  expect(outcome(await payByX402(caller))).toEqual(SERVED);
  for (const token of ['SOL', SOL_MINT, NATIVE_SOL]) {
    expect(outcome(await show(caller, await payRequest(caller, token)))).toEqual(SERVED);
  }
  for (const token of ['native', 'SOL'] as const) {
    expect(outcome(await show(caller, await payDirectly(caller, token)))).toEqual(SERVED);
  }
  expect(outcome(await makeRequest(caller))).toEqual(REFUSED);

  const sum = { token: 'SOL', mint: SOL_MINT, amount: '6', amount_atomic: String(6n * SOL), calls: 6 };
  const spent = await spendingOf(caller);
  expect(spent).toMatchObject({ totals: [sum], spending: [{ ...sum, project_id: project.id }] });
  expect(spent['budgets']).toMatchObject([{ used: '6', left: '0' }]);
  const today = (spent['series'] as readonly object[]).at(-1);
  expect(today).toMatchObject({ calls: 6, spent: { SOL: '6' } });

  const figures = await client.ask('GET', `/api/v1/projects/${project.id}/analytics`, undefined, asOwner);
  expect(figures.body['totals']).toMatchObject({ paid: 6, revenue: { SOL: '6' } });
  expect(figures.body['tokens']).toEqual({ SOL: { mint: SOL_MINT, decimals: 9 } });
  const { body } = await client.ask('GET', `/api/v1/projects/${project.id}/calls`, undefined, asOwner);
  const listed = body['data'] as readonly { readonly mint: string; readonly token: string }[];
  const paidIn = [...listed].reverse();
  expect(paidIn.map(({ mint }) => mint)).toEqual([SOL_MINT, NATIVE_SOL, SOL_MINT, NATIVE_SOL, NATIVE_SOL, SOL_MINT]);
  expect(new Set(paidIn.map(({ token }) => token))).toEqual(new Set(['SOL']));
});

test('a request counts in a budget with the price that it was made at, whatever is asked now', async () => {
  const { asOwner, client, newProject } = fixture();
  project = await newProject({ pricing: { amount: '1', token: 'SOL' } });
  const [poor, rich] = [await callerWith('0.8'), await callerWith('1')];
  expect(outcome(await makeRequest(poor))).toEqual(REFUSED);
  const proof = await payRequest(rich);
  const pricing = { amount: '0.5', token: 'SOL' };
  const changed = await client.ask('PATCH', `/api/v1/projects/${project.id}`, { pricing }, asOwner);
  expect(outcome(changed)).toEqual(SERVED);

  expect((await spendingOf(poor))['budgets']).toMatchObject([{ used: '0', left: '0.8' }]);
  expect(outcome(await show(rich, proof))).toEqual(SERVED);
  expect((await spendingOf(rich))['budgets']).toMatchObject([{ used: '1', left: '0' }]);
});
