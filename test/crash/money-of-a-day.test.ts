import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Keypair, VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import type { Fault } from '../../src/sandbox/faults.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';
import { openStorage } from '../../src/storage/open-storage.js';
import type { Storage } from '../../src/storage/storage.js';
import { USDC } from '../helpers/crash/crash-fixture.js';
import { reconciled } from '../helpers/crash/reconciled.js';
import {
  connectGateway,
  type GatewayClient,
  type MadeKey,
  type MadeProject,
  proofHeader,
} from '../helpers/fixtures/gateway-client.js';
import { payingFetch } from '../helpers/http/official-clients.js';
import type { ProofHeaders } from '../helpers/http/sign-in.js';
import { type Receiver, startReceiver } from '../helpers/http/webhook-receiver.js';
import { type RpcProxy, startRpcProxy } from '../helpers/nodes/rpc-proxy.js';
import { freePort } from '../helpers/processes/free-port.js';
import { type MoneyProcess, startMoneyProcess } from '../helpers/processes/money-process.js';
import { stopFiles } from '../helpers/processes/run-file.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { confirmed, isConfirmed, sendToChain } from '../helpers/transactions/direct-transfer.js';
import { until } from '../helpers/until.js';
import { createChance } from '../soak/chance.js';

/** `MONEY_ACTIONS=500 MONEY_KILLS=10 npx jest test/crash/money-of-a-day.test.ts` is the long form. */
const ACTIONS = Number(process.env['MONEY_ACTIONS'] ?? 40);
const KILLS = Number(process.env['MONEY_KILLS'] ?? 1);
const SEED = Number(process.env['MONEY_SEED'] ?? Date.now() % 1_000_000);
const CLIENTS = 4;
const FUNDS = 1_000_000_000n;
/** Worth a payout by itself, and not divisible by 10: splits have a rest. */
const PRICE = '0.912347';
const PATIENCE_MS = 600_000 + ACTIONS * 1_500 + KILLS * 30_000;
const ACTION_MS = 15_000;

/** What befalls the node, a few calls each. An error that proves nothing: a code by which a node says that it took nothing is believed. */
const FAULTS: readonly Fault[] = [
  { kind: 'drop', times: 2 },
  { kind: 'late', times: 3, slots: 40 },
  { kind: 'error', code: -32_603, method: 'sendTransaction', times: 2, takesEffect: true },
  { kind: 'disconnect', method: 'sendTransaction', times: 2, takesEffect: true },
  { kind: 'disconnect', method: 'getSignatureStatuses', times: 3 },
  { kind: '429', times: 5 },
  { kind: 'delay', times: 5, delayMs: 500 },
  { kind: 'forget', times: 5 },
];

const folder = testFolder();
const chance = createChance(SEED);
const addressOf = ({ publicKey }: Keypair) => publicKey.toBase58();

interface Payer {
  readonly wallet: Keypair;
  readonly key: MadeKey;
  readonly pay: typeof fetch;
}

let sandbox: Sandbox;
let proxy: RpcProxy;
let process_: MoneyProcess;
let env: Readonly<Record<string, string>>;
let storage: Storage;
let client: GatewayClient;
let upstream: Receiver;
let [feePayer, split, owner, partner]: Keypair[] = [];
let asOwner: ProofHeaders;
let projects: readonly MadeProject[];
let payers: readonly Payer[];
/** Payment requests that a wallet has paid by itself, and with what. */
const requested: { readonly id: string; readonly signature: string }[] = [];

beforeAll(async () => {
  sandbox = await startSandbox({ slotMs: 20, maxBlockhashAgeBlocks: 10_000 });
  proxy = await startRpcProxy(sandbox.rpcUrl);
  feePayer = await sandbox.createWallet({ sol: '100' });
  split = await sandbox.createWallet({ usdc: '0' });
  owner = await sandbox.createWallet({ usdc: '0' });
  partner = await sandbox.createWallet({ usdc: '0' });
  const database = `sqlite:${folder.newPath('db')}`;
  env = {
    MONEY_DATABASE: database,
    MONEY_RPC: proxy.url,
    MONEY_KEYPAIR: bs58.encode(feePayer.secretKey),
    MONEY_SPLIT: bs58.encode(split.secretKey),
    // It is started anew where it was.
    MONEY_PORT: String(await freePort()),
  };
  process_ = await startMoneyProcess(env);
  storage = await openStorage(database);
  client = await connectGateway(`http://127.0.0.1:${process_.port}`);
  upstream = await startReceiver((res) => void res.end('paid for'));
  asOwner = await client.signIn(owner);
  const shares = [
    { recipient: addressOf(owner), bps: 9_000 },
    { recipient: addressOf(partner), bps: 1_000 },
  ];
  const pricing = { amount: PRICE, token: 'USDC', network: 'solana-devnet' };
  const wanted = { upstream: { url: upstream.origin }, pricing };
  projects = [
    await client.project(asOwner, { slug: 'shared', split: shares, ...wanted }),
    await client.project(asOwner, { slug: 'single', ...wanted }),
  ];
  payers = await Promise.all(Array.from({ length: CLIENTS }, newPayer));
}, PATIENCE_MS);
afterAll(async () => {
  stopFiles();
  await storage?.close();
  await upstream?.close();
  await proxy?.close();
  await sandbox?.close();
});

async function newPayer(): Promise<Payer> {
  const wallet = await sandbox.createWallet({ usdc: '1000', sol: '1' });
  const key = await client.key(await client.signIn(wallet), { limits: { per_second: 100 } });
  return { wallet, key, pay: await payingFetch({ wallet, rpcUrl: sandbox.rpcUrl }) };
}

/** What somebody does; whatever of it a kill or a fault leaves undone is seen by the sums at the end. */
const ACTS: readonly (readonly [weight: number, act: (payer: Payer, project: MadeProject) => Promise<unknown>])[] = [
  [6, callByX402],
  [3, callByRequest],
  [2, payByWallet],
  [1, () => client.ask('POST', `/api/v1/projects/${projects[0]?.id}/payouts`, undefined, asOwner)],
];

async function callByX402({ pay, key }: Payer, { slug }: MadeProject): Promise<void> {
  const signal = AbortSignal.timeout(ACTION_MS);
  await (await pay(`${client.url}/v1/${slug}/${randomUUID()}`, { headers: key.headers, signal })).text();
}

async function callByRequest({ wallet, key }: Payer, project: MadeProject): Promise<void> {
  const { header } = await client.pay({ project, payer: wallet, key, amount: PRICE });
  if (chance.isTrue(0.8)) await client.call(project.slug, { headers: { ...key.headers, ...header } });
}

async function payByWallet({ wallet, key }: Payer, { slug, split: shares }: MadeProject): Promise<void> {
  const wanted = { amount: PRICE, token: 'USDC', recipient: shares[0]?.recipient, project: slug };
  const created = await client.ask('POST', '/create-payment', wanted, key.headers);
  const id = String(created.body['payment_id']);
  const scanned = await client.ask('POST', `/payments/${id}/transaction`, { account: addressOf(wallet) });
  const transaction = VersionedTransaction.deserialize(Buffer.from(String(scanned.body['transaction']), 'base64'));
  transaction.sign([wallet]);
  const signature = bs58.encode(transaction.signatures[0]!);
  requested.push({ id, signature });
  await sendToChain(sandbox, transaction.serialize());
  await Promise.race([confirmed(sandbox, signature), pause(ACTION_MS)]);
  if (chance.isTrue(0.5)) await client.call(slug, { headers: { ...key.headers, ...proofHeader(signature) } });
}

/** A day: all clients act at random, the node falters, and the process is killed and started again. */
async function liveOneDay(): Promise<void> {
  // Each way of money is taken once before anything falters: while it does, forty actions may be over in a moment.
  for (const project of projects) await callByX402(payers[0]!, project);
  let left = ACTIONS;
  const act = async (payer: Payer): Promise<void> => {
    while (left > 0) {
      left -= 1;
      if (chance.isTrue(0.15)) sandbox.faults.add(chance.pick(FAULTS));
      const todo = chance.weighted(ACTS);
      await todo(payer, chance.pick(projects)).catch(() => pause(50));
    }
  };
  const acting = Promise.all(payers.map(act));
  for (let kill = 1; kill <= KILLS; kill += 1) {
    await until(() => left <= ACTIONS - (ACTIONS * kill) / (KILLS + 1));
    await pause(chance.between(0, 60));
    await process_.kill();
    process_ = await startMoneyProcess(env);
  }
  await acting;
  sandbox.faults.clear();
}

const query = async (text: string) => storage.database.query({ name: `test_${randomUUID()}`, text });
const numberOf = async (text: string) => BigInt(String((await query(text))[0]?.n ?? 0));

/** Everything that was under way has ended: payments are known, payouts over, and what is owed is booked. */
async function settleDown(): Promise<void> {
  // What was dropped can land no more, and need not be waited for.
  sandbox.expireBlockhashes();
  for (const { id, signature } of requested) {
    // A node that falters, or the last look at it, may have said otherwise.
    const statusOf = async () => (await client.ask('GET', `/payments/${id}`)).body['status'];
    if (await isConfirmed(sandbox, signature)) await until(async () => (await statusOf()) === 'settled');
  }
  const open = `select count(*) as n from tollhouse_payment where state = 'broadcast'`;
  const payouts = `select count(*) as n from tollhouse_payout where state not in ('paid', 'failed')`;
  await until(async () => (await numberOf(open)) + (await numberOf(payouts)) === 0n);
  await storage.gateway.payouts.accrue(10_000);
}

test(
  `the money of ${ACTIONS} actions and ${KILLS} kills adds up, seed ${SEED}`,
  async () => {
    await liveOneDay();
    await settleDown();
    const held = (wallet: Keypair) => sandbox.tokenBalance(addressOf(wallet), USDC);
    const paidIn = payers.reduce((sum, { wallet }) => sum + FUNDS - held(wallet), 0n);
    const received = `from tollhouse_payment where state in ('confirmed', 'served')`;
    const booked = await numberOf(`select sum(amount) as n ${received}`);
    const direct = await numberOf(`select sum(amount) as n ${received} and owed is null`);
    const owed = await numberOf('select sum(amount) as n from tollhouse_owed where payout_id is null');
    const paidOut = await numberOf(
      `select sum(cast(total as integer)) as n from tollhouse_payout where state = 'paid'`,
    );
    expect(booked).toBe(paidIn);
    expect(direct + owed + paidOut).toBe(paidIn);
    expect(held(split!)).toBe(owed);
    expect(held(owner!) + held(partner!)).toBe(direct + paidOut);
    expect([booked > direct, direct > 0n]).toEqual([true, true]);
    const fixture = { sandbox, feePayers: [addressOf(feePayer!)], splitWallets: [addressOf(split!)] };
    const { differences, found, notes } = await reconciled(fixture, storage);
    expect({ differences, found, notes }).toEqual({ differences: 0, found: [], notes: [] });
    if (process.env['MONEY_ACTIONS'] === undefined) return;
    const payments = await numberOf(`select count(*) as n ${received}`);
    process.stderr.write(
      `seed ${SEED}: ${payments} payments, ${paidIn} in; ${direct} direct, ${owed} owed, ${paidOut} paid out\n`,
    );
  },
  PATIENCE_MS,
);
