import { createReadStream } from 'node:fs';
import { inspect } from 'node:util';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { createFacilitator } from '../../../src/facilitator/create-facilitator.js';
import { createGateway } from '../../../src/gateway/create-gateway.js';
import { createIdentity } from '../../../src/identity/create-identity.js';
import { readConfiguration } from '../../../src/server/configuration/configuration.js';
import { startServer } from '../../../src/server/start-server.js';
import { createSplitWallet } from '../../../src/solana/building/payout-transaction.js';
import { createFeePayer } from '../../../src/solana/fee-payer.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { connectGateway } from '../../helpers/fixtures/gateway-client.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { startReceiver } from '../../helpers/http/webhook-receiver.js';
import { runFile, stopFiles } from '../../helpers/processes/run-file.js';
import { testFolder } from '../../helpers/processes/test-folder.js';
import { signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const JWT_SECRET = 'the secret of this server that is nowhere to be seen';
const CHUNK_BYTES = 1 << 20;

const SECRETS_KEY = 'what seals the secrets of upstreams and is to be seen nowhere';
const UPSTREAM_KEY = 'the key of an API that is sold and that nobody else may read';

const folder = testFolder();
const split = Keypair.generate();
let fixture: TollFixture;
/** What must not be seen, in every form that it could have. */
let secrets: readonly string[];

beforeAll(async () => {
  fixture = await openTollFixture({ maxBlockhashAgeBlocks: 5_000 });
  secrets = [
    ...formsOf(fixture.feePayer),
    ...formsOf(split),
    ...[JWT_SECRET, SECRETS_KEY, UPSTREAM_KEY].flatMap((it) => [it, Buffer.from(it).toString('hex')]),
  ];
});
afterAll(async () => {
  stopFiles();
  await fixture.close();
});

function formsOf({ secretKey }: Keypair): readonly string[] {
  const all = Buffer.from(secretKey);
  const seed = all.subarray(0, 32);
  const texts = [all, seed].flatMap((bytes) => [bs58.encode(bytes), bytes.toString('hex'), bytes.toString('base64')]);
  return [...texts.map((it) => it.replace(/=+$/, '')), [...seed].join(','), [...seed].join(', ')];
}

/** The environment of a server on the fixture's chain. */
const environment = () => ({
  SOLANA_NETWORK: 'solana-devnet',
  SOLANA_RPC_URL: fixture.sandbox.rpcUrl,
  FACILITATOR_KEYPAIR: bs58.encode(fixture.feePayer.secretKey),
  SPLIT_KEYPAIR: JSON.stringify([...split.secretKey]),
  PAY_TO: fixture.payTo,
  JWT_SECRET,
  SECRETS_KEY,
  GATEWAY_OWNERS: 'open',
  ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8',
  BASE_URL: 'http://localhost',
  DATABASE_URL: 'memory:',
});

/** All that can be printed of a value. */
function printed(value: unknown): string {
  const seen = new WeakSet<object>();
  const plain = (_name: string, it: unknown): unknown => {
    if (typeof it === 'bigint') return String(it);
    if (typeof it !== 'object' || it === null) return it;
    if (seen.has(it)) return 'again';
    seen.add(it);
    return it;
  };
  const deep = { depth: Number.POSITIVE_INFINITY, showHidden: true, maxArrayLength: null, maxStringLength: null };
  const stack = value instanceof Error ? `${value.stack} ${inspect(value.cause, deep)}` : '';
  // A list is broken into lines where it is printed.
  const texts = [inspect(value), inspect(value, deep), JSON.stringify(value, plain), String(value), stack];
  return texts.join('\n').replace(/,\s+/g, ', ');
}

const seenIn = (text: string) => secrets.filter((secret) => text.includes(secret));

function errorOf(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was wrong');
}

describe('keys are not seen in what they were given to', () => {
  test('what is looked for is found where it is shown', () => {
    const { secretKey } = fixture.feePayer;
    for (const value of [fixture.feePayer, { keypair: bs58.encode(secretKey) }, [...secretKey], { JWT_SECRET }]) {
      expect(seenIn(printed(value))).not.toEqual([]);
    }
  });

  test('facilitator, gateway, identity, storage and the holders of keys', async () => {
    const { network, rpcUrl } = fixture.sandbox;
    const storage = await openStorage('memory:');
    const { ledger, counters } = storage;
    const keypair = [fixture.feePayer, Keypair.generate()];
    const facilitator = createFacilitator({ network, rpcUrl, keypair, splitKeypair: split, ledger, counters });
    const identity = createIdentity({ network, counters, jwtSecret: [JWT_SECRET, JWT_SECRET.toUpperCase()] });
    const gateway = createGateway({ facilitator, storage });
    const holders = [createFeePayer(fixture.feePayer, 'test'), createSplitWallet(split, 'test', 'splitKeypair')];
    for (const it of [facilitator, identity, gateway, storage, ...holders]) expect(seenIn(printed(it))).toEqual([]);
    expect(printed(holders[0])).toContain(fixture.feePayer.publicKey.toBase58());
    await gateway.close();
    await facilitator.close();
    await storage.close();
  });

  test('the configuration of a server, and the server', async () => {
    const configuration = readConfiguration({
      ...environment(),
      PORT: '0',
      LOG_LEVEL: 'silent',
      SOLANA_RPC_URL: `${fixture.sandbox.rpcUrl}/?api-key=swordfish`,
    });
    for (const shown of [printed(configuration), printed(configuration.chain), printed({ configuration })]) {
      expect(seenIn(shown)).toEqual([]);
      expect(shown).not.toContain('swordfish');
      expect(shown).toContain('[hidden]');
    }
    const password = readConfiguration({ DATABASE_URL: 'postgres://me:hunter2@h/d', REDIS_URL: 'redis://:hunter2@h' });
    expect(printed(password)).not.toContain('hunter2');
    const server = await startServer(configuration);
    expect(seenIn(printed(server))).toEqual([]);
    await server.close();
  });

  test('errors about them', () => {
    const { secretKey } = fixture.feePayer;
    const { network } = fixture.sandbox;
    const env = environment();
    const wrong = `${env.FACILITATOR_KEYPAIR}1`;
    for (const call of [
      () => createFacilitator({ network, keypair: wrong }),
      () => createFacilitator({ network, keypair: `[${[...secretKey].join(',')},1]` }),
      () => createFacilitator({ network, keypair: fixture.feePayer, splitKeypair: fixture.feePayer }),
      () => createFacilitator({ network: 'devnet' as never, keypair: env.FACILITATOR_KEYPAIR }),
      () => createFacilitator({ network, keypair: fixture.feePayer, [env.FACILITATOR_KEYPAIR.slice(0, 8)]: 1 }),
      () => createIdentity({ network, jwtSecret: JWT_SECRET, keys: [JWT_SECRET] }),
      () => createIdentity({ network, jwtSecret: JWT_SECRET, issuer: 7 as never }),
      () => readConfiguration({ ...env, FACILITATOR_KEYPAIR: wrong, PORT: 'x' }),
      () => readConfiguration({ ...env, SPLIT_KEYPAIR: `${env.SPLIT_KEYPAIR},` }),
    ]) {
      expect(seenIn(printed(errorOf(call)))).toEqual([]);
    }
  });
});

describe('the process of a server that was started by the environment', () => {
  /** Which of some texts a file holds; it is read piece by piece. */
  async function foundIn(path: string, texts: readonly string[]): Promise<readonly string[]> {
    const overlap = Math.max(...texts.map(({ length }) => length));
    const found = new Set<string>();
    let rest = '';
    for await (const chunk of createReadStream(path, { encoding: 'latin1', highWaterMark: CHUNK_BYTES })) {
      rest += chunk;
      for (const text of texts) if (rest.includes(text)) found.add(text);
      rest = rest.slice(-overlap);
    }
    return [...found];
  }

  test('has no secret in its memory as text, in its environment, nor in what it prints', async () => {
    const child = runFile('test/helpers/processes/heap-server.ts', [], { ...environment(), LOG_LEVEL: 'trace' });
    let output = '';
    const note = (chunk: unknown): void => {
      output += String(chunk);
    };
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', note);
    const told = (pattern: RegExp) => until(() => pattern.test(output) || child.exitCode !== null);
    await told(/"listening"/);
    const [, url = ''] = /"url":"(http[^"]+)"/.exec(output) ?? [];

    // All keys are in use.
    const { v2 } = await signPayment(fixture, `${url}/demo`);
    expect((await fetch(`${url}/demo`, { headers: v2 })).status).toBe(200);
    const client = await connectGateway(url);
    const by = await client.signIn(fixture.payer);
    const upstream = await startReceiver((res) => void res.end('sold'));
    const project = await client.project(by, {
      slug: 'sold',
      upstream: { url: upstream.origin, headers: { 'X-Key': UPSTREAM_KEY } },
      routes: [{ path: '/free', free: true }],
    });
    const { headers } = await client.key(by);
    expect((await client.call(`${project.slug}/free`, { headers })).status).toBe(200);
    expect(upstream.received.at(-1)?.headers['x-key']).toBe(UPSTREAM_KEY);
    await upstream.close();

    const path = folder.newPath('heapsnapshot');
    child.stdin?.write(`${path}\n`);
    await told(/^environment .*\n/m);
    expect(output).toContain('"PAY_TO"');
    expect(seenIn(output)).toEqual([]);
    const known = fixture.feePayer.publicKey.toBase58();
    expect(await foundIn(path, [known, ...secrets])).toEqual([known]);
  });
});
