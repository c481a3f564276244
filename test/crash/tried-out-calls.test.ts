import type { ServerResponse } from 'node:http';
import bs58 from 'bs58';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';
import { newName, type Sent } from '../helpers/fixtures/calls-on-credit.js';
import {
  type ClientResponse,
  connectGateway,
  type GatewayClient,
  type MadeKey,
  type MadeProject,
} from '../helpers/fixtures/gateway-client.js';
import { type Receiver, startReceiver } from '../helpers/http/webhook-receiver.js';
import { freePort } from '../helpers/processes/free-port.js';
import { type MoneyProcess, startMoneyProcess } from '../helpers/processes/money-process.js';
import { stopFiles } from '../helpers/processes/run-file.js';
import { emptyDatabases } from '../helpers/storage/empty-databases.js';
import { signPayment, type Wallet } from '../helpers/transactions/payments.js';
import { until } from '../helpers/until.js';

/** As often as a payment is served: its first run, and two more. */
const RUNS = 3;
const PRICE = 10_000n;

describe.each(emptyDatabases())('a paid call whose process is killed at each try, on $dialect', ({ newUrl }) => {
  let sandbox: Sandbox;
  let env: Readonly<Record<string, string>>;
  let server: MoneyProcess;
  let client: GatewayClient;
  let upstream: Receiver;
  let project: MadeProject;
  let key: MadeKey;
  let wallet: Wallet;

  beforeAll(async () => {
    sandbox = await startSandbox({ slotMs: 20, maxBlockhashAgeBlocks: 10_000 });
    const feePayer = await sandbox.createWallet({ sol: '100' });
    const [split, owner, payer] = await Promise.all(['0', '0', '10'].map((usdc) => sandbox.createWallet({ usdc })));
    env = {
      MONEY_DATABASE: await newUrl(),
      MONEY_RPC: sandbox.rpcUrl,
      MONEY_KEYPAIR: bs58.encode(feePayer.secretKey),
      MONEY_SPLIT: bs58.encode(split!.secretKey),
      // It is started anew where it was.
      MONEY_PORT: String(await freePort()),
    };
    server = await startMoneyProcess(env);
    client = await connectGateway(`http://127.0.0.1:${server.port}`);
    upstream = await startReceiver((res) => void res.end('done'));
    const pricing = { amount: '0.01', token: 'USDC' };
    project = await client.project(await client.signIn(owner!), {
      slug: 'jobs',
      pricing,
      upstream: { url: upstream.origin },
    });
    key = await client.key(await client.signIn(payer!));
    wallet = { sandbox, payer: payer! };
  });
  afterAll(async () => {
    stopFiles();
    await upstream?.close();
    await sandbox?.close();
  });

  const call = (sent: Sent) =>
    client.call(`${project.slug}/job`, { method: 'POST', headers: { ...key.headers, ...sent } });
  const pay = async () =>
    (
      await signPayment(wallet, `${client.url}/v1/${project.slug}/job`, {
        init: { method: 'POST', headers: key.headers },
      })
    ).v2;
  const balance = () => sandbox.tokenBalance(wallet.payer.publicKey.toBase58(), sandbox.tokens[0]!.mint);
  const answerOf = ({ status, text, body }: ClientResponse) => (status < 400 ? text : [status, body['code']]);

  const creditOf = async () => {
    const by = await client.signIn(wallet.payer);
    const { body } = await client.ask('GET', `/api/v1/spending?project=${project.id}`, undefined, by);
    return (body['credit'] as readonly { readonly amount: string }[]).map(({ amount }) => amount);
  };

  /** Calls until nobody is at work on it any more. */
  async function calledInTheEnd(sent: Sent): Promise<ClientResponse> {
    let again = await call(sent);
    await until(async () => {
      if (again.status === 409) again = await call(sent);
      return again.status !== 409;
    });
    return again;
  }

  /** Has its upstream asked, and kills the process before there is a response. */
  async function killUnderWay(sent: Sent): Promise<void> {
    const held: ServerResponse[] = [];
    upstream.respond((res) => void held.push(res));
    const asked = calledInTheEnd(sent).catch(() => undefined);
    await until(() => held.length === 1);
    await server.kill();
    await asked;
    server = await startMoneyProcess(env);
    upstream.respond((res) => void res.end('done'));
  }

  async function killedAtEachTry(sent: Sent): Promise<void> {
    for (let run = 0; run < RUNS; run += 1) await killUnderWay(sent);
  }

  test.each(['with an Idempotency-Key', 'without one'])(
    'leaves its price as credit, once, and says so; that pays it when it is sent again, %s',
    async (how) => {
      const name = how === 'without one' ? {} : newName();
      const [paid, before] = [await pay(), balance()];
      await killedAtEachTry({ ...paid, ...name });
      expect(await creditOf()).toEqual([]);
      const told = await calledInTheEnd({ ...paid, ...name });
      expect(answerOf(told)).toEqual([503, 'call_broken_off']);
      expect(told.headers.get('access-credit')).toMatch(/^0\.01 USDC was not charged/);
      expect(told.headers.get('retry-after')).toMatch(/./);
      expect(String(told.body['detail'])).toMatch(/pays the next one .* do not pay again/);
      expect(await creditOf()).toEqual(['0.01']);
      expect(answerOf(await call({ ...paid, ...name }))).toBe('done');
      expect(await creditOf()).toEqual([]);
      // It has its name by the payment, or by its key, and a new call is asked to pay.
      expect(answerOf(await call({ ...paid, ...name }))).toBe('done');
      expect(answerOf(await call(newName()))).toEqual([402, 'payment_required']);
      expect(before - balance()).toBe(PRICE);
    },
  );

  test('leaves credit once, however often it comes again at once', async () => {
    const [paid, before] = [await pay(), balance()];
    await killedAtEachTry(paid);
    upstream.respond((res) => void res.writeHead(500).end('sorry'));
    await calledInTheEnd(paid);
    await Promise.all(Array.from({ length: 8 }, () => call(paid)));
    expect(await creditOf()).toEqual(['0.01']);
    upstream.respond((res) => void res.end('done'));
    expect([answerOf(await call(newName())), await creditOf(), before - balance()]).toEqual(['done', [], PRICE]);
  });

  test('is served for its payment where the last of its tries is not killed, and leaves no credit', async () => {
    const [paid, name, before] = [await pay(), newName(), balance()];
    for (let run = 1; run < RUNS; run += 1) await killUnderWay({ ...paid, ...name });
    expect(answerOf(await calledInTheEnd({ ...paid, ...name }))).toBe('done');
    expect([answerOf(await call(name)), await creditOf(), before - balance()]).toEqual(['done', [], PRICE]);
  });
});
