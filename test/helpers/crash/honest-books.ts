import { setTimeout as wait } from 'node:timers/promises';
import { type Keypair, VersionedTransaction } from '@solana/web3.js';
import type { Sandbox } from '../../../src/sandbox/start-sandbox.js';
import { proofHeader } from '../fixtures/gateway-client.js';
import { type GatewayFixture, openGatewayFixture } from '../fixtures/gateway-fixture.js';
import { QUICK } from '../fixtures/toll-fixture.js';
import { payingFetch } from '../http/official-clients.js';
import { offeredTerms, payTerms } from '../transactions/core-payments.js';
import { confirmed, sendToChain } from '../transactions/direct-transfer.js';
import { until } from '../until.js';

/** Where a token account holds its amount. */
const [AMOUNT_START, AMOUNT_END] = [64, 72];
const CALLS = 6;
const FINALITY = 40;
/** Worth a payout by itself, and not divisible by 10. */
const PRICE = '0.912347';

/**
 * Books of a gateway with some of everything in them, made by real traffic: calls of a project with a split that were paid
 * by x402 and by payment requests, settled here and by a wallet itself, payments to a seller of which one failed and one
 * expired, payouts of which one did not land, more that is owed, a payment that has bought nothing yet, and credit.
 * @param databaseUrl - a new SQLite file; close the fixture's gateway and storage before the file is copied
 */
export async function openHonestBooks(databaseUrl: string): Promise<GatewayFixture> {
  const opened = await openGatewayFixture(databaseUrl, QUICK);
  const split = opened.project.split.map(({ recipient, bps }) => ({ recipient, bps }));
  const pricing = { amount: PRICE, token: 'USDC', network: 'solana-devnet' };
  const project = await opened.newProject({ split, pricing });
  const fixture: GatewayFixture = { ...opened, project };
  const pay = () => fixture.client.pay({ project, payer: fixture.payer, key: fixture.key, amount: PRICE });
  const payingCalls = await payingFetch({ wallet: fixture.payer, rpcUrl: fixture.sandbox.rpcUrl });
  const call = async (count: number): Promise<void> => {
    for (let at = 0; at < count; at += 1) {
      const url = `${fixture.client.url}/v1/${fixture.project.slug}/x402/${at}`;
      const answer = await payingCalls(url, { headers: fixture.key.headers });
      if (answer.status !== 200) throw new Error(`the call was answered ${answer.status}: ${await answer.text()}`);
    }
  };
  await call(CALLS);
  await callWith(fixture, (await pay()).signature);
  await callPaidByWallet(fixture);
  await pay();
  const single = await fixture.newProject();
  await callWith(fixture, (await fixture.pay({ project: single })).signature, single.slug);
  await callOnCredit(fixture);
  await sellDirectly(fixture);
  await payOutInVain(fixture);
  await payOut(fixture);
  await call(3);
  await payOut(fixture);
  await call(2);
  await fixture.storage.gateway.payouts.accrue(100);
  return fixture;
}

async function callWith({ client, key, project }: GatewayFixture, signature: string, slug = project.slug) {
  const answer = await client.call(`${slug}/proof`, { headers: { ...key.headers, ...proofHeader(signature) } });
  if (answer.status !== 200) throw new Error(`the call was answered ${answer.status}: ${answer.text}`);
}

/** Two calls that are not charged, and one that what they have paid pays. */
async function callOnCredit(fixture: GatewayFixture): Promise<void> {
  const { client, key, newProject, pay, upstream } = fixture;
  const project = await newProject();
  const payments = [await pay({ project }), await pay({ project })];
  const call = async (headers = {}) =>
    (await client.call(`${project.slug}/credit`, { headers: { ...key.headers, ...headers } })).status;
  upstream.respond((res) => void res.writeHead(500).end());
  const failed = [await call(payments[0]?.header), await call(payments[1]?.header)];
  upstream.respond((res) => void res.end('paid for'));
  expect([...failed, await call()]).toEqual([500, 500, 200]);
}

/** A wallet pays a request of its key by itself, at its own cost, and calls with it. */
async function callPaidByWallet(fixture: GatewayFixture): Promise<void> {
  const { client, sandbox, project } = fixture;
  const { wallet, key } = await fixture.newCaller();
  const wanted = { amount: PRICE, token: 'USDC', recipient: project.split[0]?.recipient, project: project.slug };
  const created = await client.ask('POST', '/create-payment', wanted, key.headers);
  const id = String(created.body['payment_id']);
  const signature = await payScanned(fixture, id, wallet);
  await confirmed(sandbox, signature);
  const answer = await client.call(`${project.slug}/wallet`, {
    headers: { ...key.headers, ...proofHeader(signature) },
  });
  if (answer.status !== 200) throw new Error(`the call was answered ${answer.status}: ${answer.text}`);
}

/** What a wallet does with the QR code of a request. Returns the signature. */
async function payScanned({ client, sandbox }: GatewayFixture, id: string, wallet: Keypair): Promise<string> {
  const account = wallet.publicKey.toBase58();
  const scanned = await client.ask('POST', `/payments/${id}/transaction`, { account });
  const transaction = VersionedTransaction.deserialize(Buffer.from(String(scanned.body['transaction']), 'base64'));
  transaction.sign([wallet]);
  return sendToChain(sandbox, transaction.serialize());
}

/** Payments of x402 that belong to no project: one that is paid, one that fails on the chain, and one that never lands. */
async function sellDirectly({ facilitator, sandbox, payTo }: GatewayFixture): Promise<void> {
  const terms = await offeredTerms(facilitator, payTo);
  const sell = async (during: (payer: Keypair, over: Promise<unknown>) => unknown = () => undefined) => {
    const payer = await sandbox.createWallet({ usdc: '1' });
    const payment = await payTerms({ sandbox, payer }, terms);
    const sent = sandbox.calls['sendTransaction'] ?? 0;
    const settling = facilitator.settle(payment, terms);
    await until(() => (sandbox.calls['sendTransaction'] ?? 0) > sent);
    await during(payer, settling);
    return (await settling).status;
  };
  const paid = await sell();
  sandbox.faults.add({ kind: 'late', method: 'sendTransaction', slots: 50 });
  const failed = await sell((payer) => empty(sandbox, payer.publicKey.toBase58(), terms.asset));
  sandbox.faults.clear();
  sandbox.faults.add({ kind: 'drop', method: 'sendTransaction' });
  const expired = await sell((_payer, over) => expireUntil(sandbox, over));
  sandbox.faults.clear();
  expect([paid, failed, expired]).toEqual(['settled', 'failed', 'failed']);
}

/** Nobody has said when the blockhash of a payment ends, so that the end is reckoned from the first look at the chain. */
async function expireUntil(sandbox: Sandbox, over: Promise<unknown>): Promise<void> {
  const isOver = over.then(() => true);
  do sandbox.expireBlockhashes();
  while (!(await Promise.race([isOver, wait(100, false)])));
}

/** The payer spends the money elsewhere. */
function empty(sandbox: Sandbox, payer: string, mint: string): void {
  const account = sandbox.fundToken(payer, mint, 0n);
  const state = sandbox.account(account);
  if (state === null) throw new Error('the payer has no account');
  const data = Uint8Array.from(state.data);
  data.fill(0, AMOUNT_START, AMOUNT_END);
  sandbox.setAccount(account, { ...state, data });
}

/** Asks for payouts, and waits until all are over. Returns how the newest ended. */
async function payOut({ client, project, asOwner, storage }: GatewayFixture, meanwhile: () => void = () => undefined) {
  const { body } = await client.ask('POST', `/api/v1/projects/${project.id}/payouts`, undefined, asOwner);
  expect(body).toMatchObject({ payouts: [{ project_id: project.id }] });
  const list = () => storage.gateway.payouts.list(project.id, 100);
  await until(async () => {
    meanwhile();
    return (await list()).every(({ state }) => state === 'paid' || state === 'failed');
  });
  return (await list())[0]?.state;
}

/** A payout that never lands, and is owed again. */
async function payOutInVain(fixture: GatewayFixture): Promise<void> {
  const { sandbox } = fixture;
  sandbox.faults.add({ kind: 'drop', method: 'sendTransaction' });
  const sent = sandbox.calls['sendTransaction'] ?? 0;
  let isExpired = false;
  const ended = await payOut(fixture, () => {
    if (isExpired || (sandbox.calls['sendTransaction'] ?? 0) === sent) return;
    isExpired = true;
    sandbox.expireBlockhashes();
    // That it cannot land any more must be final, or the next look is after ten seconds.
    sandbox.advanceSlots(FINALITY);
  });
  sandbox.faults.clear();
  expect(ended).toBe('failed');
}
