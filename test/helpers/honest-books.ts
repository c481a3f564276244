import { setTimeout as wait } from 'node:timers/promises';
import { type Keypair, VersionedTransaction } from '@solana/web3.js';
import type { Sandbox } from '../../src/sandbox/start-sandbox.js';
import { offeredTerms, payTerms } from './core-payments.js';
import { confirmed, sendToChain } from './direct-transfer.js';
import { proofHeader } from './gateway-client.js';
import { type GatewayStand, openGatewayStand } from './gateway-stand.js';
import { payingFetch } from './official-clients.js';
import { QUICK } from './toll-stand.js';
import { until } from './until.js';

/** Where a token account holds its amount. */
const [AMOUNT_START, AMOUNT_END] = [64, 72];
const CALLS = 6;
const FINALITY = 40;
/** Worth a payout by itself, and not divisible by 10. */
const PRICE = '0.912347';

/**
 * Books of a gateway with some of everything in them, made by real traffic: calls of a project with a split that were paid
 * by x402 and by payment requests, settled here and by a wallet itself, payments to a seller of which one failed and one
 * expired, payouts of which one did not land, more that is owed, and a payment that has bought nothing yet.
 * @param databaseUrl - a new SQLite file; close the stand's gateway and storage before the file is copied
 */
export async function openHonestBooks(databaseUrl: string): Promise<GatewayStand> {
  const opened = await openGatewayStand(databaseUrl, QUICK);
  const split = opened.project.split.map(({ recipient, bps }) => ({ recipient, bps }));
  const pricing = { amount: PRICE, token: 'USDC', network: 'solana-devnet' };
  const project = await opened.newProject({ split, pricing });
  const stand: GatewayStand = { ...opened, project };
  const pay = () => stand.client.pay({ project, payer: stand.payer, key: stand.key, amount: PRICE });
  const payingCalls = await payingFetch({ wallet: stand.payer, rpcUrl: stand.sandbox.rpcUrl });
  const call = async (count: number): Promise<void> => {
    for (let at = 0; at < count; at += 1) {
      const url = `${stand.client.url}/v1/${stand.project.slug}/x402/${at}`;
      const answer = await payingCalls(url, { headers: stand.key.headers });
      if (answer.status !== 200) throw new Error(`the call was answered ${answer.status}: ${await answer.text()}`);
    }
  };
  await call(CALLS);
  await callWith(stand, (await pay()).signature);
  await callPaidByWallet(stand);
  await pay();
  const single = await stand.newProject();
  await callWith(stand, (await stand.pay({ project: single })).signature, single.slug);
  await sellDirectly(stand);
  await payOutInVain(stand);
  await payOut(stand);
  await call(3);
  await payOut(stand);
  await call(2);
  await stand.storage.gateway.payouts.accrue(100);
  return stand;
}

async function callWith({ client, key, project }: GatewayStand, signature: string, slug = project.slug) {
  const answer = await client.call(`${slug}/proof`, { headers: { ...key.headers, ...proofHeader(signature) } });
  if (answer.status !== 200) throw new Error(`the call was answered ${answer.status}: ${answer.text}`);
}

/** A wallet pays a request of its key by itself, at its own cost, and calls with it. */
async function callPaidByWallet(stand: GatewayStand): Promise<void> {
  const { client, sandbox, project } = stand;
  const { wallet, key } = await stand.newCaller();
  const wanted = { amount: PRICE, token: 'USDC', recipient: project.split[0]?.recipient, project: project.slug };
  const created = await client.ask('POST', '/create-payment', wanted, key.headers);
  const id = String(created.body['payment_id']);
  const signature = await payScanned(stand, id, wallet);
  await confirmed(sandbox, signature);
  const answer = await client.call(`${project.slug}/wallet`, {
    headers: { ...key.headers, ...proofHeader(signature) },
  });
  if (answer.status !== 200) throw new Error(`the call was answered ${answer.status}: ${answer.text}`);
}

/** What a wallet does with the QR code of a request. Returns the signature. */
async function payScanned({ client, sandbox }: GatewayStand, id: string, wallet: Keypair): Promise<string> {
  const account = wallet.publicKey.toBase58();
  const scanned = await client.ask('POST', `/payments/${id}/transaction`, { account });
  const transaction = VersionedTransaction.deserialize(Buffer.from(String(scanned.body['transaction']), 'base64'));
  transaction.sign([wallet]);
  return sendToChain(sandbox, transaction.serialize());
}

/** Payments of x402 that belong to no project: one that is paid, one that fails on the chain, and one that never lands. */
async function sellDirectly({ facilitator, sandbox, payTo }: GatewayStand): Promise<void> {
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
async function payOut({ client, project, asOwner, storage }: GatewayStand, meanwhile: () => void = () => undefined) {
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
async function payOutInVain(stand: GatewayStand): Promise<void> {
  const { sandbox } = stand;
  sandbox.faults.add({ kind: 'drop', method: 'sendTransaction' });
  const sent = sandbox.calls['sendTransaction'] ?? 0;
  let isExpired = false;
  const ended = await payOut(stand, () => {
    if (isExpired || (sandbox.calls['sendTransaction'] ?? 0) === sent) return;
    isExpired = true;
    sandbox.expireBlockhashes();
    // That it cannot land any more must be final, or the next look is after ten seconds.
    sandbox.advanceSlots(FINALITY);
  });
  sandbox.faults.clear();
  expect(ended).toBe('failed');
}
