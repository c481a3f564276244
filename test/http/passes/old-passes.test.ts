import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { migrate } from '../../../src/storage/sql/migrate.js';
import { SCHEMA_STEPS } from '../../../src/storage/sql/migrations/steps.js';
import {
  type NetworkSide,
  type NetworksFixture,
  openNetworksFixture,
} from '../../helpers/fixtures/networks-fixture.js';
import { passAnswer } from '../../helpers/http/passes.js';
import { signIn } from '../../helpers/http/sign-in.js';
import { emptyDatabases } from '../../helpers/storage/empty-databases.js';
import { connectTo, insertRow } from '../../helpers/storage/schema-connection.js';
import { type WalletKey, walletKeyOf } from '../../helpers/transactions/wallet-key.js';

const KINDS = emptyDatabases();

type OldValue = string | number | { readonly base64: string };

/** What a version from before sites named their network wrote, and gave out. */
interface OldPasses {
  readonly payTo: string;
  /** Of the wallet that has bought all. */
  readonly seed: string;
  /** By the path that was paid, without its slash. */
  readonly tokens: Readonly<Record<string, string>>;
  readonly cookie: string;
  readonly rows: Readonly<Record<string, readonly Readonly<Record<string, OldValue>>[]>>;
}

const NETWORKS = [
  { network: 'solana-devnet', other: 'solana' },
  { network: 'solana', other: 'solana-devnet' },
] as const;
/** The paths that were paid, and what is left of each pass once one more request was let in. */
const PATHS = [
  { path: 'uses', left: '8' },
  { path: 'time', left: /^\d+$/ },
  { path: 'credit', left: '0.08 USDC' },
  { path: 'renewed', left: /^\d+$/ },
  { path: 'failed', left: '0 USDC' },
] as const;

function readOld(network: string): OldPasses {
  return JSON.parse(readFileSync(join(__dirname, 'old-passes', `${network}.json`), 'utf8')) as OldPasses;
}

/** A database as that version left it. */
async function restoreOld(url: string, { rows }: OldPasses): Promise<void> {
  const connection = await connectTo(url);
  const end = SCHEMA_STEPS.findIndex(([name]) => name === '0026-upstreams');
  await migrate(connection, SCHEMA_STEPS.slice(0, end));
  for (const [table, all] of Object.entries(rows)) {
    for (const row of all) {
      const values = Object.entries(row).map(([column, it]) => [
        column,
        typeof it === 'object' ? Buffer.from(it.base64, 'base64') : it,
      ]);
      await insertRow(connection, table, Object.fromEntries(values));
    }
  }
  await connection.close();
}

/** The gates that had sold them, as they are written today, on one network. */
function serveGates({ facilitator, serve }: NetworkSide, payTo: string): Promise<string> {
  const gate = (more: object) =>
    requirePayment({ facilitator, payTo, price: '0.10 USDC', baseUrl: 'https://shop.example', ...more });
  return serve((app) => {
    app.get('/uses', gate({ pass: { uses: 10 } }));
    app.get('/time', gate({ pass: { for: '3650d' } }));
    app.get('/credit', gate({ pass: { credit: true, cost: '0.01 USDC' } }));
    app.get('/renewed', gate({ pass: { for: '3650d', renew: { grace: '30d' } } }));
    app.get('/cookie', gate({ pass: { uses: 10, cookie: true } }));
    app.get('/failed', gate({ settle: 'before' }));
    app.use((_req, res) => void res.send('goods'));
  });
}

const CASES = KINDS.flatMap((kind) => NETWORKS.map((it) => ({ ...kind, ...it })));

describe.each(CASES)('what an older version sold for money of $network, on $dialect', ({ newUrl, network, other }) => {
  const old = readOld(network);
  let fixture: NetworksFixture;
  let wallet: WalletKey;
  let urls: Readonly<Record<'solana' | 'solana-devnet', string>>;

  beforeEach(async () => {
    const databaseUrl = await newUrl();
    await restoreOld(databaseUrl, old);
    fixture = await openNetworksFixture(databaseUrl);
    wallet = walletKeyOf(Buffer.from(old.seed, 'base64'));
    const [live, test] = await Promise.all([fixture.live, fixture.test].map((side) => serveGates(side, old.payTo)));
    urls = { solana: live!, 'solana-devnet': test! };
  });
  afterEach(() => fixture.close());

  test.each(PATHS)('covers /$path by its token on its own network, and takes no harm on the other', async (it) => {
    const shown = { headers: { 'access-pass': old.tokens[it.path] ?? '' } };
    const elsewhere = await fetch(`${urls[other]}/${it.path}`, shown);
    expect([elsewhere.status, await elsewhere.text()]).toEqual([402, expect.not.stringContaining('goods')]);
    const here = await passAnswer(await fetch(`${urls[network]}/${it.path}`, shown));
    expect(here).toEqual({ status: 200, left: expect.stringMatching(it.left), code: undefined });
  });

  test.each(PATHS)('covers /$path by a sign-in on its own network, and none on the other', async (it) => {
    const [away, home] = [`${urls[other]}/${it.path}`, `${urls[network]}/${it.path}`];
    expect((await fetch(away, { headers: await signIn(wallet, away) })).status).toBe(402);
    const here = await fetch(home, { headers: await signIn(wallet, home) });
    expect(await passAnswer(here)).toEqual({ status: 200, left: expect.stringMatching(it.left), code: undefined });
  });

  test('covers what it is for as a cookie on its own network, and the other leaves the cookie where it is', async () => {
    const shown = { headers: { cookie: old.cookie } };
    const here = await fetch(`${urls[network]}/cookie`, shown);
    expect(await passAnswer(here)).toMatchObject({ status: 200, left: '8' });
    const elsewhere = await fetch(`${urls[other]}/cookie`, shown);
    expect(elsewhere.status).toBe(402);
    if (other !== 'solana') expect(elsewhere.headers.get('set-cookie')).toBeNull();
  });

  test('is over once its tokens are withdrawn', async () => {
    const { passes } = fixture.storage;
    const [pass] = (await passes.list(wallet.address)).filter(({ scope }) => scope === 'GET /uses');
    await passes.withdrawTokens(pass?.id ?? '');
    const shown = { headers: { 'access-pass': old.tokens['uses'] ?? '' } };
    const answers = await Promise.all(Object.values(urls).map((url) => fetch(`${url}/uses`, shown)));
    expect(answers.map(({ status }) => status)).toEqual([402, 402]);
  });
});
