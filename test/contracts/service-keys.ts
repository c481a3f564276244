import { newId } from '../../src/lib/ids.js';
import { newEvent } from '../../src/storage/events/events.js';
import type { ServiceKeyRecord, ServiceKeyStore } from '../../src/storage/keys/service-keys.js';
import type { SqlDatabase } from '../../src/storage/sql/sql-database.js';

/** A store under test, on a database that the test can look into. */
export interface ServiceKeysUnderTest {
  readonly keys: ServiceKeyStore;
  readonly database: SqlDatabase;
}

const TIME = 1_700_000_000_000;
const THIRTY_DAYS = 30 * 86_400_000;
const EVENTS = { name: 'test_events', text: 'select type, owner, project_id from tollhouse_event where id = $1' };

/** A key with nothing but what it must have. */
function newKey(more: Partial<ServiceKeyRecord> = {}): ServiceKeyRecord {
  return {
    id: newId('key'),
    publicKey: newId('key'),
    secretHash: 'hash',
    owner: 'owner',
    name: 'a key',
    scopes: ['call'],
    mode: 'live',
    allowedIps: [],
    metadata: {},
    allowedProjects: [],
    version: 1,
    createdAt: TIME,
    ...more,
  };
}

const COMPLETE: Partial<ServiceKeyRecord> = {
  previousHash: 'earlier',
  previousUntil: TIME + 1,
  projectId: 'prj_1',
  expiresAt: TIME + 2,
  spending: {
    limit: 18_446_744_073_709_551_615n,
    asset: 'mint',
    token: 'USDC',
    decimals: 6,
    window: 'day',
    action: 'notify',
  },
  allowedIps: ['203.0.113.0/24'],
  perSecond: 3,
  metadata: { 'a "note"': 'ünï\u0000code' },
  revokedAt: TIME + 3,
  lastUsedAt: TIME + 4,
};

/** What every implementation of {@link ServiceKeyStore} must do. */
export function serviceKeysContract(name: string, open: () => Promise<ServiceKeysUnderTest>): void {
  describe(`${name} keeps the contract of ServiceKeyStore`, () => {
    let keys: ServiceKeyStore;
    let database: SqlDatabase;

    beforeEach(async () => {
      ({ keys, database } = await open());
    });
    afterEach(() => database.close());

    const eventOf = (type: 'key.created' | 'key.rotated' | 'key.revoked', { owner, projectId }: ServiceKeyRecord) =>
      newEvent({ type, owner, ...(projectId === undefined ? {} : { projectId }), data: {} }, TIME);
    const written = async (id: string) => (await database.query(EVENTS, id)).map(({ type }) => type);

    const added = (more: Partial<ServiceKeyRecord>, most: number) => {
      const record = newKey(more);
      return keys.insert(record, eventOf('key.created', record), most);
    };

    async function kept(more: Partial<ServiceKeyRecord> = {}): Promise<ServiceKeyRecord> {
      const record = newKey(more);
      await keys.insert(record, eventOf('key.created', record));
      return record;
    }

    test.each([
      ['with nothing but what it must have', {}],
      ['with everything', COMPLETE],
    ])('a key %s is kept exactly', async (_what, more) => {
      const record = await kept(more);
      expect(await keys.findByPublicKey(record.publicKey)).toEqual(record);
      expect(await keys.find(record.id, { wallet: record.owner })).toEqual(record);
      expect(await keys.findByPublicKey('another')).toBeUndefined();
    });

    test('a new key is written with its event or not at all', async () => {
      const record = newKey({ projectId: 'prj_1' });
      const event = eventOf('key.created', record);
      await keys.insert(record, event);
      expect(await database.query(EVENTS, event.id)).toEqual([
        { type: 'key.created', owner: 'owner', project_id: 'prj_1' },
      ]);
      const twin = { ...newKey(), publicKey: record.publicKey };
      const second = eventOf('key.created', twin);
      await expect(keys.insert(twin, second)).rejects.toMatchObject({ code: 'store_unavailable' });
      await expect(keys.insert(newKey(), event)).rejects.toMatchObject({ code: 'store_unavailable' });
      expect(await written(second.id)).toEqual([]);
    });

    test('a key is shown to its owner, and to who is restricted to its project', async () => {
      const { id, owner } = await kept({ projectId: 'prj_1' });
      const free = await kept();
      expect(await keys.find(id, { wallet: owner, projectId: 'prj_1' })).toMatchObject({ id });
      expect(await keys.find(id, { wallet: owner, projectId: 'prj_2' })).toBeUndefined();
      expect(await keys.find(id, { wallet: 'another' })).toBeUndefined();
      expect(await keys.find(free.id, { wallet: owner, projectId: 'prj_1' })).toBeUndefined();
    });

    test('a list is paged newest first, also where several were made at once, and shows nobody else’s', async () => {
      const owner = newId('key');
      const made: ServiceKeyRecord[] = [];
      for (const age of [3, 1, 1, 1, 2]) made.push(await kept({ owner, createdAt: TIME - age }));
      await kept({ owner: 'another' });
      const seen: string[] = [];
      for (let last: ServiceKeyRecord | undefined; ; ) {
        const page = await keys.list({ wallet: owner }, { limit: 2, ...(last === undefined ? {} : { after: last }) });
        seen.push(...page.map(({ id }) => id));
        last = page.at(-1);
        if (page.length < 2) break;
      }
      const order = made.sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
      expect(seen).toEqual(order.map(({ id }) => id));
    });

    test('a key tells its owner by its id, revoked or not', async () => {
      const [record, revoked] = [await kept(), await kept({ owner: 'another', revokedAt: TIME })];
      expect(await keys.ownerOf(record.id)).toBe('owner');
      expect(await keys.ownerOf(revoked.id)).toBe('another');
      expect(await keys.ownerOf('key_none')).toBeUndefined();
    });

    test('a quota is never exceeded, however many keys are added at once; others have their own', async () => {
      const [owner, other] = [newId('key'), newId('key')];
      const many = Array.from({ length: 100 }, (_, at) => newKey({ owner: at % 10 === 0 ? other : owner }));
      const events = many.map((it) => eventOf('key.created', it));
      const done = await Promise.all(
        many.map(async (it, at) => (await keys.insert(it, events[at]!, 10)).status === 'kept'),
      );
      const madeBy = (wallet: string) => done.filter((isMade, at) => isMade && many[at]?.owner === wallet).length;
      expect([madeBy(owner), madeBy(other)]).toEqual([10, 10]);
      expect(await keys.list({ wallet: owner }, { limit: 100 })).toHaveLength(10);
      const refused = done.indexOf(false);
      expect([await written(events[refused]!.id), await written(events[0]!.id)]).toEqual([[], ['key.created']]);
    });

    test('a quota counts no revoked and no expired keys', async () => {
      const owner = newId('key');
      const more = async () => (await added({ owner }, 2)).status === 'kept';
      await kept({ owner, expiresAt: TIME });
      const alive = await kept({ owner, expiresAt: TIME + 1 });
      expect([await more(), await more()]).toEqual([true, false]);
      await keys.revoke(alive.id, TIME, eventOf('key.revoked', alive));
      expect([await more(), await more()]).toEqual([true, false]);
    });

    test('of a wallet five times as many keys end within 30 days as it may have, and then none is made until the first is past', async () => {
      const [owner, honest] = [newId('key'), newId('key')];
      for (let at = 0; at < 5; at += 1) await kept({ owner, revokedAt: TIME - 90 + at });
      for (let at = 0; at < 5; at += 1) await kept({ owner, expiresAt: TIME - 70 + at });
      await kept({ owner, revokedAt: TIME - THIRTY_DAYS, expiresAt: TIME - 1 });
      const freeAt = TIME - 90 + THIRTY_DAYS;
      expect(await added({ owner }, 2)).toEqual({ status: 'quota_reached', freeAt });
      expect(await added({ owner, createdAt: freeAt - 1 }, 2)).toEqual({ status: 'quota_reached', freeAt });
      expect(await added({ owner: honest }, 2)).toEqual({ status: 'kept' });
      const next = { owner, createdAt: freeAt };
      expect([await added(next, 2), await added(next, 3), await added(next, 2)]).toEqual([
        { status: 'kept' },
        { status: 'kept' },
        { status: 'quota_reached' },
      ]);
      expect(await added({ owner: newId('key') }, 0)).toEqual({ status: 'quota_reached' });
    });

    test('of a revoked key its name stays, and nothing that its owner has written on it; so do notes on one that can be used', async () => {
      const { revokedAt: _revoked, previousHash: _hash, previousUntil: _until, ...more } = COMPLETE;
      const written = { ...more, allowedProjects: ['prj_1'] };
      const [record, alive] = [await kept(written), await kept(written)];
      await keys.revoke(record.id, TIME + 1, eventOf('key.revoked', record));
      const slim = { ...record, revokedAt: TIME + 1, metadata: {}, allowedIps: [], allowedProjects: [] };
      expect(await keys.findByPublicKey(record.publicKey)).toEqual(slim);
      expect(await keys.findByPublicKey(alive.publicKey)).toEqual(alive);
    });

    test('notes on a key that expired 30 days before are forgotten with the next one', async () => {
      const owner = newId('key');
      const createdAt = TIME - THIRTY_DAYS - 1;
      const written = { owner, createdAt, metadata: { a: 'note' }, allowedIps: ['203.0.113.0/24'] };
      const [old, later] = [
        await kept({ ...written, expiresAt: TIME - THIRTY_DAYS }),
        await kept({ ...written, expiresAt: TIME - THIRTY_DAYS + 1 }),
      ];
      const others = await kept({ ...written, owner: 'another', expiresAt: TIME - THIRTY_DAYS });
      await kept({ owner });
      expect(await keys.findByPublicKey(old.publicKey)).toEqual({ ...old, metadata: {} });
      for (const it of [later, others]) expect(await keys.findByPublicKey(it.publicKey)).toEqual(it);
    });

    test('a list for a project has its keys only', async () => {
      const owner = newId('key');
      await kept({ owner });
      const { id } = await kept({ owner, projectId: 'prj_1' });
      const list = await keys.list({ wallet: owner, projectId: 'prj_1' }, { limit: 10 });
      expect(list.map((it) => it.id)).toEqual([id]);
    });

    test('a rotation keeps the secret before it, and tells', async () => {
      const record = await kept();
      const event = eventOf('key.rotated', record);
      expect(await keys.rotate(record.id, { secretHash: 'new', previousUntil: TIME + 9 }, event)).toBe(true);
      const change = { secretHash: 'new', previousHash: 'hash', previousUntil: TIME + 9 };
      expect(await keys.findByPublicKey(record.publicKey)).toEqual({ ...record, ...change });
      expect(await written(event.id)).toEqual(['key.rotated']);
    });

    test('of two rotations at once the secret of the one is that before the other', async () => {
      const record = await kept();
      const rotate = (secretHash: string) =>
        keys.rotate(record.id, { secretHash, previousUntil: TIME + 9 }, eventOf('key.rotated', record));
      expect(await Promise.all([rotate('a'), rotate('b')])).toEqual([true, true]);
      const { secretHash, previousHash } = (await keys.findByPublicKey(record.publicKey)) ?? record;
      expect([secretHash, previousHash].sort()).toEqual(['a', 'b']);
    });

    test('a key is revoked once, is never rotated again, and nothing is told of what did not happen', async () => {
      const record = await kept();
      const [first, second, late] = (['key.revoked', 'key.revoked', 'key.rotated'] as const).map((type) =>
        eventOf(type, record),
      );
      expect(await keys.revoke(record.id, TIME + 1, first!)).toBe(true);
      expect(await keys.revoke(record.id, TIME + 2, second!)).toBe(false);
      expect(await keys.rotate(record.id, { secretHash: 'new', previousUntil: TIME }, late!)).toBe(false);
      expect(await keys.findByPublicKey(record.publicKey)).toEqual({ ...record, revokedAt: TIME + 1 });
      expect(await written(first!.id)).toEqual(['key.revoked']);
      expect([await written(second!.id), await written(late!.id)]).toEqual([[], []]);
    });

    test('the last use is noted at most as often as wanted, whoever notes it', async () => {
      const record = await kept();
      const lastUse = async () => (await keys.findByPublicKey(record.publicKey))?.lastUsedAt;
      await keys.touch(record.id, TIME, 60_000);
      await keys.touch(record.id, TIME + 59_999, 60_000);
      expect(await lastUse()).toBe(TIME);
      await keys.touch(record.id, TIME + 60_000, 60_000);
      expect(await lastUse()).toBe(TIME + 60_000);
    });
  });
}
