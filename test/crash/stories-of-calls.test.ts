import { inspect } from 'node:util';
import type { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import fc from 'fast-check';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';
import { openStorage } from '../../src/storage/open-storage.js';
import type { Storage } from '../../src/storage/storage.js';
import { USDC } from '../helpers/crash/crash-fixture.js';
import { reconciled } from '../helpers/crash/reconciled.js';
import {
  CALL_PRICE,
  type ClientResponse,
  connectGateway,
  type GatewayClient,
  type MadeKey,
  type MadeProject,
} from '../helpers/fixtures/gateway-client.js';
import type { ProofHeaders } from '../helpers/http/sign-in.js';
import { type Receiver, type Respond, startReceiver } from '../helpers/http/webhook-receiver.js';
import { freePort } from '../helpers/processes/free-port.js';
import { type MoneyProcess, startMoneyProcess } from '../helpers/processes/money-process.js';
import { stopFiles } from '../helpers/processes/run-file.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { BOTH_DATABASES, type OwnDatabase } from '../helpers/storage/both-databases.js';
import { signPayment } from '../helpers/transactions/payments.js';
import { until } from '../helpers/until.js';

/** `CRASH_STORIES=30 npx jest test/crash/stories-of-calls` is the long form. */
const STORIES = Number(process.env['CRASH_STORIES'] ?? 2);
const PATIENCE_MS = 600_000 + STORIES * 60_000;
/** What a key may spend: fewer calls than the longest story has. */
const BUDGET = 3n;

const UPSTREAMS: Readonly<Record<string, Respond>> = {
  answers: (res) => void res.end('paid for'),
  fails: (res) => void res.writeHead(500).end('sorry'),
  breaks: (res) => void res.destroy(),
};
/** When the process is killed in a call, if it is. */
const KILLS = ['never', 'when it sends', 'when it asks the upstream', 'when the response has come'] as const;

const step = fc.record({
  upstream: fc.constantFrom(...Object.keys(UPSTREAMS)),
  kill: fc.constantFrom(...KILLS),
  /** Whether the caller brings the same payment again after a kill. */
  comesAgain: fc.boolean(),
  /** Whether the key has another secret from then on, and the old one ends at once. */
  rotates: fc.boolean(),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

interface Caller {
  readonly wallet: Keypair;
  readonly proof: ProofHeaders;
  key: MadeKey;
}

const folder = testFolder();
/** Two processes must find the same one: none that is in memory. */
const DATABASES: typeof BOTH_DATABASES = [
  ['SQLite', async () => ({ url: `sqlite:${folder.newPath('db')}`, stop: async () => {} })],
  ...BOTH_DATABASES.filter(([name]) => name === 'Postgres'),
];

describe.each(DATABASES)('calls of processes that are killed, on %s', (_name, openDatabase) => {
  let sandbox: Sandbox;
  let database: OwnDatabase;
  let storage: Storage;
  let env: Readonly<Record<string, string>>;
  let server: MoneyProcess;
  let client: GatewayClient;
  let upstream: Receiver;
  let [feePayer, split, owner]: Keypair[] = [];
  let asOwner: ProofHeaders;
  let projects = 0;
  let statements = 0;

  beforeAll(async () => {
    sandbox = await startSandbox({ slotMs: 20, maxBlockhashAgeBlocks: 10_000 });
    database = await openDatabase();
    feePayer = await sandbox.createWallet({ sol: '100' });
    split = await sandbox.createWallet({ usdc: '0' });
    owner = await sandbox.createWallet({ usdc: '0' });
    env = {
      MONEY_DATABASE: database.url,
      MONEY_RPC: sandbox.rpcUrl,
      MONEY_KEYPAIR: bs58.encode(feePayer.secretKey),
      MONEY_SPLIT: bs58.encode(split.secretKey),
      // It is started anew where it was.
      MONEY_PORT: String(await freePort()),
    };
    server = await startMoneyProcess(env);
    storage = await openStorage(database.url);
    client = await connectGateway(`http://127.0.0.1:${server.port}`);
    upstream = await startReceiver();
    asOwner = await client.signIn(owner);
  }, PATIENCE_MS);
  afterAll(async () => {
    stopFiles();
    await storage?.close();
    await upstream?.close();
    await sandbox?.close();
    await database?.stop();
  });

  /** The story that is under way, and what it has come to: one that never ends is told. */
  let told: readonly Step[] | undefined;
  let sums: Awaited<ReturnType<typeof sumsOf>> | undefined;
  afterEach(() => {
    if (told !== undefined) process.stderr.write(`${inspect({ told, sums }, { depth: 4 })}\n`);
  });

  async function newCaller(): Promise<Caller> {
    const wallet = await sandbox.createWallet({ usdc: '1000' });
    const proof = await client.signIn(wallet);
    const spending = { limit: String(Number(BUDGET * CALL_PRICE) / 1e6), token: 'USDC', window: 'total' };
    return { wallet, proof, key: await client.key(proof, { spending }) };
  }

  async function rotate(caller: Caller): Promise<void> {
    const { id } = caller.key;
    const { body } = await client.ask('POST', `/api/v1/keys/${id}/rotate`, { expire_old_in: 0 }, caller.proof);
    const secret = String(body['api_secret']);
    caller.key = { id, secret, headers: { ...caller.key.headers, 'x-service-secret': secret } };
  }

  const show = (path: string, { key }: Caller, payment: ProofHeaders) =>
    client.call(path, { headers: { ...key.headers, ...payment } });

  /** A call, from the credit of the key or with a payment of its own, in which the process may be killed. */
  async function call(path: string, caller: Caller, { kill, comesAgain }: Step): Promise<void> {
    const sent = sandbox.calls['sendTransaction'] ?? 0;
    let isOver = false;
    let payment: ProofHeaders = {};
    const calling = (async () => {
      const first = await show(path, caller, {});
      if (first.status !== 402) return;
      const init = { headers: caller.key.headers };
      payment = (await signPayment({ sandbox, payer: caller.wallet }, `${client.url}/v1/${path}`, { init })).v2;
      await show(path, caller, payment);
    })()
      .catch(() => undefined)
      .finally(() => {
        isOver = true;
      });
    const moments: Readonly<Record<(typeof KILLS)[number], () => boolean>> = {
      never: () => false,
      'when it sends': () => (sandbox.calls['sendTransaction'] ?? 0) > sent,
      'when it asks the upstream': () => upstream.received.some((it) => it.path === `/${path.split('/')[1]}`),
      'when the response has come': () => false,
    };
    await until(() => isOver || moments[kill]());
    if (kill === 'never') return;
    await server.kill();
    await calling;
    server = await startMoneyProcess(env);
    if (comesAgain) await until(async () => isFinal(await show(path, caller, payment)));
  }

  const isFinal = ({ status }: ClientResponse) => ![409, 429, 503].includes(status);

  async function numberOf(text: string, ...values: readonly string[]): Promise<bigint> {
    statements += 1;
    const [row] = await storage.database.query({ name: `test_story_${statements}`, text }, ...values);
    return BigInt(String(row?.n ?? 0));
  }

  /** What left the wallet, on the chain and in each of the books. */
  async function sumsOf({ wallet, key }: Caller, { id }: MadeProject, before: bigint) {
    const payer = wallet.publicKey.toBase58();
    const waiting = `select sum(amount) as n from tollhouse_payment where state = 'confirmed' and payer = $1`;
    const open = `select count(*) as n from tollhouse_payment where state = 'broadcast' and payer = $1`;
    const spending = await client.ask('GET', '/api/v1/spending', undefined, key.headers);
    const figures = await client.ask('GET', `/api/v1/projects/${id}/analytics`, undefined, asOwner);
    const first = (name: string) => (spending.body[name] as readonly { readonly amount_atomic: string }[])[0];
    const totals = figures.body['totals'] as Readonly<Record<string, Readonly<Record<string, string>>>>;
    const total = (name: string) => BigInt(totals[name]?.['USDC'] ?? 0);
    const owed = figures.body['credit_owed_atomic'] as Readonly<Record<string, string>>;
    return {
      open: await numberOf(open, payer),
      paid: before - sandbox.tokenBalance(payer, USDC),
      waiting: await numberOf(waiting, payer),
      reported: BigInt(first('totals')?.amount_atomic ?? 0),
      earned: total('revenue_atomic'),
      given: total('credit_given_atomic'),
      used: total('credit_used_atomic'),
      credit: [BigInt(first('credit')?.amount_atomic ?? 0), BigInt(owed['USDC'] ?? 0)] as const,
    };
  }

  function holds({ open, paid, waiting, reported, earned, given, used, credit }: Awaited<ReturnType<typeof sumsOf>>) {
    const [caller, seller] = credit;
    const isBooked = paid === reported + waiting && reported === earned - used + given;
    return open === 0n && isBooked && caller === seller && seller === given - used;
  }

  test(
    'what left the wallet is earned, credit, or waits for its call, to the atomic unit, and within the budget, after any story',
    async () => {
      const story = fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 6 }), async (steps) => {
        const caller = await newCaller();
        [told, sums] = [steps, undefined];
        projects += 1;
        const slug = `story-${projects}`;
        const project = await client.project(asOwner, { slug, upstream: { url: upstream.origin } });
        const before = sandbox.tokenBalance(caller.wallet.publicKey.toBase58(), USDC);
        for (const [at, it] of steps.entries()) {
          upstream.respond(UPSTREAMS[it.upstream]!);
          await call(`${slug}/${slug}-${at}`, caller, it);
          if (it.rotates) await rotate(caller);
        }
        await until(async () => {
          sums = await sumsOf(caller, project, before);
          return holds(sums);
        });
        const { paid } = await sumsOf(caller, project, before);
        expect(paid).toBeLessThanOrEqual(BUDGET * CALL_PRICE);
        told = undefined;
      });
      await fc.assert(story, { numRuns: STORIES });
      const addressOf = ({ publicKey }: Keypair) => publicKey.toBase58();
      const fixture = { sandbox, feePayers: [addressOf(feePayer!)], splitWallets: [addressOf(split!)] };
      const { differences, found, notes } = await reconciled(fixture, storage);
      expect({ differences, found, notes }).toEqual({ differences: 0, found: [], notes: [] });
    },
    PATIENCE_MS,
  );
});
