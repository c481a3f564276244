import { siteOfGate } from '../../src/protocol/networks/pass-site.js';
import { NETWORK_IDS, type NetworkId } from '../../src/protocol/types.js';
import { openStorage } from '../../src/storage/open-storage.js';
import { migrate } from '../../src/storage/sql/migrate.js';
import { passSites } from '../../src/storage/sql/migrations/0032-pass-sites.js';
import { SCHEMA_STEPS } from '../../src/storage/sql/migrations/steps.js';
import type { Storage } from '../../src/storage/storage.js';
import { emptyDatabases } from '../helpers/storage/empty-databases.js';
import { connectTo, insertRow, type OpenConnection } from '../helpers/storage/schema-connection.js';
import { newClaim, TERMS } from './ledger-samples.js';

const KINDS = emptyDatabases();

const { payTo } = TERMS;
const WALLET = 'wallet of alice';
const DAY_MS = 86_400_000;
/** Gates, and how their sites were written before these named a network. */
const SELLERS = [
  ['with an address', 'https://shop.example', `https://shop.example ${payTo}`],
  ['without an address', undefined, payTo],
] as const;
const COUNTED = { kind: 'uses', bought: 10, remaining: 9 };
const LASTING = { kind: 'until', ends_at: Date.now() + DAY_MS, over_at: Date.now() + DAY_MS };
const SOLD: Readonly<Record<string, Readonly<Record<string, string | number>>>> = {
  uses: COUNTED,
  time: LASTING,
  credit: { kind: 'credit', mint: TERMS.asset, bought: 1_000, remaining: 900 },
  renewed: { ...LASTING, grace_ms: 1_000 },
  'price credit': { kind: 'credit', mint: TERMS.asset, bought: 1_000, remaining: 1_000, scope: 'price of GET /report' },
  revoked: { ...COUNTED, revoked_at: 5, over_at: 5 },
};

interface OldPass {
  readonly id: string;
  readonly site?: string;
  readonly [column: string]: string | number | undefined;
}

describe.each(KINDS)('the network that a pass of before was paid on, on $dialect', ({ dialect, newUrl }) => {
  let url: string;
  let db: OpenConnection;
  let storage: Storage | undefined;

  beforeEach(async () => {
    url = await newUrl();
    db = await connectTo(url);
    const end = SCHEMA_STEPS.findIndex(([, step]) => step === passSites);
    await migrate(db, SCHEMA_STEPS.slice(0, end));
  });
  afterEach(async () => {
    await db.close();
    await storage?.close();
    storage = undefined;
  });

  const oldPass = (row: OldPass) =>
    insertRow(db, 'tollhouse_pass', {
      ...{ payment_id: `payment of ${row.id}`, wallet: WALLET, site: payTo, scope: 'GET /report', opened_at: 1_000 },
      ...{ serial: 0, told: 0, ...COUNTED, ...row },
    });
  const oldPayment = (id: string, network: NetworkId, more: Readonly<Record<string, string>> = {}) => {
    const { binding, payer, terms, blockhash } = newClaim();
    const { asset, amount: _amount, payTo: pay_to, network: _network, ...rest } = terms;
    const money = { network, asset, amount: 1_000, pay_to, terms: JSON.stringify(rest), payer, blockhash };
    const state = { state: 'confirmed', claimed_at: 1_000, lease_ends: 1_000, slot: 7, signature: '5'.repeat(88) };
    return insertRow(db, 'tollhouse_payment', { id, binding, ...money, ...state, ...more });
  };
  const openToday = async () => {
    storage = await openStorage(url);
    return storage;
  };
  const siteOf = async (id: string) => (await storage?.passes.find(id))?.site;

  test.each(SELLERS)('is in its site from then on, as that of a gate %s is today', async (_which, baseUrl, site) => {
    for (const network of NETWORK_IDS) {
      for (const [kind, row] of Object.entries(SOLD)) {
        const id = `${kind} on ${network}`;
        await oldPass({ ...row, id, site, scope: row['scope'] ?? `GET /${kind}` });
        const buys = JSON.stringify({ site, scope: `"site":"${site}"`, kind: 'uses', bought: '10', left: '9' });
        await oldPayment(`payment of ${id}`, network, kind === 'price credit' ? {} : { buys });
      }
    }
    const { passes, ledger } = await openToday();

    for (const network of NETWORK_IDS) {
      const today = siteOfGate(baseUrl, payTo, network);
      for (const [kind, row] of Object.entries(SOLD)) {
        const id = `${kind} on ${network}`;
        const place = { wallet: WALLET, site: today, scope: String(row['scope'] ?? `GET /${kind}`) };
        const found = await passes.findFor(place);
        // Tokens of before are those of an earlier number, but for what live money has bought.
        expect(found.map((it) => [it.id, it.serial])).toEqual([[id, network === 'solana' ? 0 : 1]]);
        const { buys } = (await ledger.find(`payment of ${id}`)) ?? {};
        const bought = { site: today, scope: `"site":"${site}"`, kind: 'uses', bought: 10n, left: 9n };
        expect(buys).toEqual(kind === 'price credit' ? undefined : bought);
      }
    }
  });

  test('lets a pass be renewed that was bought before', async () => {
    await oldPass({ ...SOLD['renewed'], id: 'month' });
    await oldPayment('payment of month', 'solana-devnet');
    await insertRow(db, 'tollhouse_pass_period', {
      ...{ payment_id: 'payment of month', pass_id: 'month', lasts_ms: DAY_MS, grace_ms: 1_000, at: 1_000 },
    });
    const { passes } = await openToday();
    const bought = { wallet: WALLET, scope: 'GET /report', kind: 'until', lastsMs: DAY_MS, graceMs: 1_000 } as const;
    const renewedAt = async (network: NetworkId) => {
      const site = siteOfGate(undefined, payTo, network);
      return (await passes.open({ ...bought, id: `new on ${network}`, paymentId: network, site })).id;
    };
    expect(await renewedAt('solana-devnet')).toBe('month');
    expect(await renewedAt('solana')).toBe('new on solana');
  });

  test('is that of a payment which has renewed it, where its own is forgotten', async () => {
    await oldPass({ ...SOLD['renewed'], id: 'month' });
    await oldPayment('later', 'solana-devnet');
    await oldPayment('another', 'solana');
    await insertRow(db, 'tollhouse_pass_period', {
      ...{ payment_id: 'later', pass_id: 'month', lasts_ms: DAY_MS, grace_ms: 1_000, at: 1_000 },
    });
    await openToday();
    expect(await siteOf('month')).toBe(`${payTo} solana-devnet`);
  });

  test.each(NETWORK_IDS)('is %s where its payment is forgotten and all others of then are of that', async (network) => {
    await oldPass({ id: 'forgotten' });
    await oldPayment('another', network);
    await openToday();
    expect(await siteOf('forgotten')).toBe(siteOfGate(undefined, payTo, network));
  });

  test.each([
    ['payments of then are of several networks', ['solana', 'solana-devnet']],
    ['no payment is kept', []],
  ] as const)('is nobody’s to know where its own is forgotten and %s: it is good nowhere', async (_why, networks) => {
    await oldPass({ id: 'forgotten' });
    for (const network of networks) await oldPayment(`another on ${network}`, network);
    const { passes } = await openToday();
    const places = NETWORK_IDS.map((it) => ({ site: siteOfGate(undefined, payTo, it), scope: 'GET /report' }));
    const found = await Promise.all(places.map((place) => passes.findFor({ wallet: WALLET, ...place })));
    expect(found.flat()).toEqual([]);
    expect(await passes.find('forgotten')).toMatchObject({ serial: 1, left: 9n });
  });

  test('is what its site says of a pass that was sold since sites name it, paid for or not', async () => {
    await db.run(`update tollhouse_migration set timestamp = '2026-11-24T01:00:00.000Z'`);
    const since = { opened_at: Date.parse('2026-11-24T01:00:01Z') };
    await oldPayment('of test money', 'solana-devnet');
    await oldPayment('of live money', 'solana', { claimed_at: '1795482001000' });
    await oldPass({ ...since, id: 'forgotten' });
    await oldPass({ ...since, id: 'free', payment_id: 'allowance of live money' });
    await oldPass({ ...since, id: 'named', site: `${payTo} solana-devnet` });
    await oldPass({ id: 'before' });
    const { passes } = await openToday();
    expect(await Promise.all(['forgotten', 'free', 'named', 'before'].map(siteOf))).toEqual([
      payTo,
      payTo,
      `${payTo} solana-devnet`,
      `${payTo} solana-devnet`,
    ]);
    const serials = ['forgotten', 'free', 'named', 'before'].map(async (id) => (await passes.find(id))?.serial);
    expect(await Promise.all(serials)).toEqual([0, 0, 0, 1]);
  });

  test('is asked for allowances too, which begin anew, and not for the free calls of a key', async () => {
    await oldPayment('another', 'solana-devnet');
    await oldPass({ id: 'free', payment_id: 'allowance 1f' });
    await oldPass({ id: 'calls', payment_id: 'allowance 2f', site: 'prj_9jKb4Qx7tTqFhW', wallet: 'key_1' });
    const { passes } = await openToday();
    expect(await siteOf('free')).toBe(`${payTo} solana-devnet`);
    expect([await passes.findByPayment('allowance 1f'), (await passes.findByPayment('allowance 2f'))?.site]).toEqual([
      undefined,
      'prj_9jKb4Qx7tTqFhW',
    ]);
  });

  test('is written once: the step changes nothing that it has changed', async () => {
    await oldPayment('another', 'solana-devnet', { buys: JSON.stringify({ site: payTo, scope: 'x', kind: 'until' }) });
    for (const id of ['one', 'other']) await oldPass({ id, payment_id: `allowance ${id}` });
    const rows = async () => [
      await db.run('select * from tollhouse_pass order by id'),
      await db.run('select * from tollhouse_payment order by id'),
    ];
    await (await openToday()).close();
    const once = await rows();
    for (const statement of passSites(dialect)) await db.run(statement);
    expect(await rows()).toEqual(once);
    storage = undefined;
  });
});
