import { mkdtempSync, rmSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import bs58 from 'bs58';
import { readConfiguration } from '../../src/server/configuration/configuration.js';
import { type RunningServer, startServer } from '../../src/server/start-server.js';
import { type CrashFixture, openCrashFixture, PRICE } from '../helpers/crash/crash-fixture.js';
import { insist, orderAtGate, send } from '../helpers/crash/orders.js';
import { CALL_PRICE, connectGateway } from '../helpers/fixtures/gateway-client.js';
import { type Receiver, startReceiver } from '../helpers/http/webhook-receiver.js';
import { ownPostgres } from '../helpers/storage/postgres.js';
import { openSmallDisk } from '../helpers/storage/small-disk.js';
import { until } from '../helpers/until.js';

const MIB = 1_048_576;
const DISK_MIB = 96;

/** What is broken, and mended again, while a server stands on it. */
interface Breakable {
  readonly url: string;
  /** The states of what `/readyz` says of the store and its disk while it is broken. */
  readonly says: object;
  readonly reason: RegExp;
  /** What a check of the set-up finds meanwhile. */
  readonly finds: readonly string[];
  breakIt(): Promise<void>;
  mend(): Promise<void>;
  stop(): Promise<void>;
}

interface Part {
  readonly part: string;
  readonly network?: string;
  readonly state: string;
  readonly reason?: string;
  readonly since: string;
}

async function fullDisk(): Promise<Breakable> {
  const disk = openSmallDisk(DISK_MIB)!;
  return {
    url: `sqlite:${disk.path}/tollhouse.db`,
    says: { store: 'failed', disk: 'failed' },
    reason: /takes no writes.*; .*16 MiB/,
    finds: ['store_unwritable', 'store_full'],
    breakIt: () => disk.leave(0),
    mend: async () => disk.makeRoom(),
    stop: async () => disk.remove(),
  };
}

async function nearlyFullDisk(): Promise<Breakable> {
  const disk = openSmallDisk(DISK_MIB)!;
  return {
    url: `sqlite:${disk.path}/tollhouse.db`,
    says: { store: 'ok', disk: 'failed' },
    reason: /less than 16 MiB left/,
    finds: ['store_full'],
    breakIt: () => disk.leave(8 * MIB),
    mend: async () => disk.makeRoom(),
    stop: async () => disk.remove(),
  };
}

/** What is written goes to a file that no restart would find. */
async function movedFile(): Promise<Breakable> {
  const folder = mkdtempSync(join(tmpdir(), 'tollhouse-moved-'));
  const path = join(folder, 'tollhouse.db');
  return {
    url: `sqlite:${path}`,
    says: { store: 'failed' },
    reason: /is another one, or gone/,
    finds: ['store_moved'],
    breakIt: () => rename(path, `${path}.aside`),
    mend: () => rename(`${path}.aside`, path),
    stop: async () => rmSync(folder, { recursive: true }),
  };
}

async function readOnlyPostgres(): Promise<Breakable> {
  const postgres = await ownPostgres();
  const url = await postgres.newDatabase();
  const set = async (value: 'on' | 'off'): Promise<void> => {
    await postgres.query(url, `alter system set default_transaction_read_only = ${value}`);
    await postgres.query(url, 'select pg_reload_conf()');
  };
  return {
    url,
    says: { store: 'failed' },
    reason: /takes no writes/,
    finds: ['store_unwritable'],
    breakIt: () => set('on'),
    mend: () => set('off'),
    stop: () => postgres.stop(),
  };
}

const probe = openSmallDisk(1);
probe?.remove();
const DISKS: readonly [string, () => Promise<Breakable>][] = [
  ['the disk of SQLite is full', fullDisk],
  ['the disk of SQLite is nearly full', nearlyFullDisk],
];

describe.each([
  ['Postgres takes no writes', readOnlyPostgres] as const,
  ['the file of SQLite is elsewhere', movedFile] as const,
  // Elsewhere only the administrator makes disks.
  ...(probe === undefined ? [] : DISKS),
])('while %s', (_when, open) => {
  let fixture: CrashFixture;
  let broken: Breakable;
  let server: RunningServer;
  let upstream: Receiver;

  beforeAll(async () => {
    [fixture, broken] = await Promise.all([openCrashFixture(), open()]);
    upstream = await startReceiver((res) => void res.end('paid for'));
    const env = {
      PORT: '0',
      BASE_URL: 'http://localhost',
      LOG_LEVEL: 'silent',
      RATE_LIMIT_SCALE: '10000',
      JWT_SECRET: 'a secret that is long enough for HS256',
      GATEWAY_OWNERS: 'open',
      ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8',
      DATABASE_URL: broken.url,
      SOLANA_NETWORK: 'solana-devnet',
      SOLANA_RPC_URL: fixture.sandbox.rpcUrl,
      FACILITATOR_KEYPAIR: bs58.encode(fixture.feePayer.secretKey),
      PAY_TO: fixture.payTo,
    };
    server = await startServer(readConfiguration(env));
  });
  afterAll(async () => {
    await server.close();
    await upstream.close();
    await fixture.close();
    await broken.stop();
  });

  const readiness = async () => {
    const answer = await fetch(`${server.url}/readyz`);
    const body = (await answer.json()) as { parts: readonly Part[]; detail?: string };
    return { status: answer.status, detail: body.detail ?? '', parts: body.parts };
  };
  const lamports = () => fixture.sandbox.balance(fixture.feePayer.publicKey.toBase58());

  test('nothing is offered, claimed or sent, nobody is charged, and it goes on by itself afterwards', async () => {
    const { sandbox } = fixture;
    const client = await connectGateway(server.url);
    const owner = await sandbox.createWallet({ usdc: '0' });
    const caller = await sandbox.createWallet({ usdc: '10' });
    const upstreamUrl = { url: upstream.origin };
    const project = await client.project(await client.signIn(owner), { slug: 'echo', upstream: upstreamUrl });
    const key = await client.key(await client.signIn(caller));
    const [{ header }, order] = await Promise.all([
      client.pay({ project, payer: caller, key }),
      orderAtGate(fixture, await sandbox.createWallet({ usdc: '1' }), '/demo'),
    ]);
    const init = { headers: { ...key.headers, ...header } };
    expect((await readiness()).status).toBe(200);
    const before = lamports();

    await broken.breakIt();
    await until(async () => (await readiness()).status === 503);
    const { detail, parts } = await readiness();
    const storeParts = parts.filter(({ network }) => network === undefined);
    expect(Object.fromEntries(storeParts.map(({ part, state }) => [part, state]))).toMatchObject(broken.says);
    expect(detail).toMatch(broken.reason);
    const { ok, findings } = await server.facilitator.check();
    expect([ok, findings.map(({ code }) => code)]).toEqual([false, broken.finds]);

    expect((await fetch(`${server.url}/demo`)).status).toBe(503);
    sandbox.resetCalls();
    expect(await send(server.url, order)).toMatchObject({ status: 503, code: 'store_unavailable' });
    expect(sandbox.calls).toMatchObject({ sendTransaction: 0 });
    expect(await client.call('echo', init)).toMatchObject({ status: 503 });
    expect(upstream.received).toHaveLength(0);
    expect([lamports(), fixture.held(fixture.payTo)]).toEqual([before, 0n]);

    await broken.mend();
    await until(async () => (await readiness()).status === 200);
    expect((await insist(() => server.url, order)).at(-1)).toMatchObject({ status: 200, served: true });
    await until(async () => (await client.call('echo', init)).status !== 503);
    expect(upstream.received).toHaveLength(1);
    expect(fixture.held(fixture.payTo)).toBe(PRICE);
    expect(fixture.held(caller.publicKey.toBase58())).toBe(10_000_000n - BigInt(CALL_PRICE));
    expect(before - lamports()).toBeGreaterThan(0n);
  });
});
