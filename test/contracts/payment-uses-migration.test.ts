import type { ClaimRequest } from '../../src/storage/ledger/ledger.js';
import { openStorage } from '../../src/storage/open-storage.js';
import { migrate } from '../../src/storage/sql/migrate.js';
import { SCHEMA_STEPS } from '../../src/storage/sql/migrations/steps.js';
import type { Storage } from '../../src/storage/storage.js';
import { emptyDatabases } from '../helpers/storage/empty-databases.js';
import { connectTo, insertRow } from '../helpers/storage/schema-connection.js';
import { testClock } from '../helpers/test-clock.js';
import { LEASE_MS, newClaim, rivalOf } from './ledger-samples.js';

const KINDS = emptyDatabases();

const SIGNATURE = '5'.repeat(88);
const LANDED = { slot: 7, signature: SIGNATURE } as const;
const REASON = 'invalid_exact_svm_transaction_expired';
const CLAIMED_AT = 1_600_000_000_000;

/** Rows as they were written before payments were bound to a request and a secret. */
const ROWS = [
  { id: 'claimed', state: 'claimed' },
  { id: 'broadcast', state: 'broadcast', signature: SIGNATURE, last_valid_block_height: 900 },
  { id: 'confirmed', state: 'confirmed', ...LANDED },
  { id: 'held', state: 'confirmed', ...LANDED, lease: 'old lease', lease_ends: Number.MAX_SAFE_INTEGER },
  { id: 'served', state: 'served', ...LANDED, finished_at: CLAIMED_AT + 1 },
  { id: 'expired', state: 'expired', signature: SIGNATURE, reason: REASON, finished_at: CLAIMED_AT + 1 },
] as const;

/** What all of them have; shares and passes came later. */
function paymentOf(id: string) {
  const { lease: _lease, leaseMs: _leaseMs, owedLegs: _owedLegs, buys: _buys, ...payment } = newClaim({ id });
  return payment;
}

/** A database as the version before left it. */
async function makeOld(url: string): Promise<void> {
  const connection = await connectTo(url);
  await migrate(
    connection,
    SCHEMA_STEPS.slice(
      0,
      SCHEMA_STEPS.findIndex(([name]) => name === '0010-payment-uses'),
    ),
  );
  for (const row of ROWS) {
    const { id, binding, payer, terms, blockhash, owner, projectId } = paymentOf(row.id);
    const { network, asset, amount, payTo, ...rest } = terms;
    const text = { id, binding, payer, network, asset, pay_to: payTo, blockhash, owner, project_id: projectId };
    const values = { ...text, amount: BigInt.asIntN(64, amount), terms: JSON.stringify(rest) };
    await insertRow(connection, 'tollhouse_payment', {
      claimed_at: CLAIMED_AT,
      lease_ends: CLAIMED_AT,
      ...values,
      ...row,
    });
  }
  await connection.close();
}

describe.each(KINDS)('payments from before they were bound, on $dialect', ({ newUrl }) => {
  let storage: Storage;
  const clock = testClock();

  beforeEach(async () => {
    const url = await newUrl();
    await makeOld(url);
    storage = await openStorage(url, { now: clock.now });
  });
  afterEach(() => storage.close());

  const boundClaim = (id: string, change: Partial<ClaimRequest> = {}) => {
    const { owedLegs: _owedLegs, ...claim } = newClaim({ id, fingerprint: 'request', retryHash: 'secret', ...change });
    return claim;
  };
  const recordOf = async (id: string) => (await storage.ledger.find(id))!;

  test('are as they were, and bound to nothing', async () => {
    expect(await recordOf('broadcast')).toEqual({
      ...paymentOf('broadcast'),
      state: 'broadcast',
      signature: SIGNATURE,
      lastValidBlockHeight: 900,
      claimedAt: CLAIMED_AT,
    });
    expect(await recordOf('confirmed')).toEqual({
      ...paymentOf('confirmed'),
      ...LANDED,
      state: 'confirmed',
      claimedAt: CLAIMED_AT,
    });
    expect((await recordOf('expired')).reason).toBe(REASON);
  });

  test('and never sent are good for anything', async () => {
    const elsewhere = boundClaim('claimed', { binding: 'GET /other|terms' });
    expect(await storage.ledger.claim(elsewhere)).toMatchObject({ status: 'won', isFirstUse: true });
  });

  test.each(['claimed', 'broadcast', 'confirmed'])('and %s: whoever comes first for it binds it', async (id) => {
    const { ledger } = storage;
    const before = await recordOf(id);
    const first = boundClaim(id);
    const record = { ...before, fingerprint: 'request', retryHash: 'secret' };
    expect(await ledger.claim(first)).toEqual({ status: 'won', isFirstUse: true, record });
    expect(await ledger.keep(id, first.lease)).toBe(true);
    expect(await ledger.claim(rivalOf(first))).toEqual({ status: 'won', isFirstUse: false, record });
    expect(await ledger.claim(rivalOf(first, { retryHash: 'another' }))).toEqual({ status: 'foreign', record });
  });

  test('and held by a process of the old version stay its own, and are ended by it', async () => {
    const { ledger } = storage;
    expect((await ledger.claim(boundClaim('held'))).status).toBe('busy');
    expect(await ledger.served('held', 'old lease')).toBe(true);
    expect((await ledger.claim(boundClaim('held'))).status).toBe('closed');
  });

  test('and over are closed to all who come for the same', async () => {
    const { ledger } = storage;
    const ends = await Promise.all(['served', 'expired'].map((id) => ledger.claim(boundClaim(id))));
    expect(ends.map(({ status }) => status)).toEqual(['closed', 'closed']);
    const elsewhere = await ledger.claim(boundClaim('served', { binding: 'GET /other|terms' }));
    expect(elsewhere.status).toBe('foreign');
  });

  test('and sent are looked after, and their handlers are counted from none', async () => {
    const { ledger } = storage;
    const { network } = paymentOf('broadcast').terms;
    const taken = await ledger.takeUnresolved({ network, restMs: LEASE_MS, limit: 10 });
    expect(taken.map(({ id }) => id)).toEqual(['broadcast']);

    const claim = boundClaim('confirmed');
    await ledger.claim(claim);
    const runs = [1, 2, 3].map(() => ledger.runAgain('confirmed', claim.lease));
    expect((await Promise.all(runs)).filter(Boolean)).toHaveLength(2);
    expect((await recordOf('confirmed')).reruns).toBe(2);
  });
});
