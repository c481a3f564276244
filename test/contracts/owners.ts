import { newAuditEntry } from '../../src/storage/audit/audit-log.js';
import { createSqlAuditLog } from '../../src/storage/audit/sql-audit-log.js';
import { newEvent } from '../../src/storage/events/events.js';
import { createSqlServiceKeys } from '../../src/storage/keys/sql-service-keys.js';
import type { SuspendedKind, Suspension } from '../../src/storage/owners/owners.js';
import { createSqlOwners } from '../../src/storage/owners/sql-owners.js';
import { createSqlProjects } from '../../src/storage/projects/sql-projects.js';
import type { SqlDatabase } from '../../src/storage/sql/sql-database.js';
import { createSqlWebhooks } from '../../src/storage/webhooks/sql-webhooks.js';
import { aWebhook } from '../helpers/http/webhook-samples.js';
import { ANNA, BORIS, eventOf, newProject, nextVersion } from './project-samples.js';

const TIME = 1_700_000_000_000;
const OPERATOR = 'operator';

/** What every database must do for owners, what is suspended of them, and the audit log. */
export function ownersContract(name: string, open: () => Promise<SqlDatabase>): void {
  describe(`${name} keeps owners, suspensions and the audit log`, () => {
    let database: SqlDatabase;
    beforeEach(async () => {
      database = await open();
    });
    afterEach(() => database.close());

    const owners = () => createSqlOwners(database);
    const audit = () => createSqlAuditLog(database);
    const entry = (action: string, changes: object = {}, at = TIME) =>
      newAuditEntry({ actor: { wallet: OPERATOR }, action, target: ANNA, owner: ANNA, details: {}, ...changes }, at);
    const actions = async (query: object = {}) =>
      (await audit().list({ limit: 100, ...query })).map(({ action }) => action);

    test('whoever owns something is an owner from then on, with what it owns', async () => {
      const projects = createSqlProjects(database);
      const [first, second] = [newProject({ createdAt: TIME }), newProject({ createdAt: TIME + 1 })];
      for (const it of [first, second]) await projects.create(it, undefined, []);
      await createSqlWebhooks(database).create(aWebhook({ owner: BORIS, createdAt: TIME + 2 }), 9);
      const key = { id: 'key_1', publicKey: 'k', secretHash: 'h', owner: BORIS, name: 'k', scopes: [] };
      const rest = { mode: 'test', allowedIps: [], metadata: {}, createdAt: TIME + 3 } as const;
      const event = newEvent({ type: 'key.created', owner: BORIS, data: {} }, TIME);
      await createSqlServiceKeys(database).insert({ ...key, ...rest }, event);
      await projects.replace(nextVersion(second, { state: 'deleted' }), 'keep', []);
      const anna = { wallet: ANNA, since: TIME, projects: 1, keys: 0, webhooks: 0, quotas: {} };
      const boris = { wallet: BORIS, since: TIME + 2, projects: 0, keys: 1, webhooks: 1, quotas: {} };
      expect(await owners().list(10)).toEqual([boris, anna]);
      expect(await owners().list(1)).toEqual([boris]);
      expect(await owners().list(10, boris)).toEqual([anna]);
      expect(await owners().find(ANNA)).toEqual(anna);
      expect(await owners().find('nobody')).toBeUndefined();
    });

    test('what was refused makes nobody an owner', async () => {
      expect(await createSqlWebhooks(database).create(aWebhook(), 0)).toBe(false);
      expect(await owners().list(10)).toEqual([]);
    });

    test('quotas of its own are set, left and taken back, each change with its entry', async () => {
      expect(await owners().quotasOf(ANNA)).toEqual({});
      await owners().setQuotas(ANNA, { projects: 3, keys: 0 }, entry('one'));
      await owners().setQuotas(
        ANNA,
        { projects: null, projectBytes: 2_000, dailyChanges: 7, unpaidRequests: 9, feePercent: 40 },
        entry('two'),
      );
      const own = { keys: 0, projectBytes: 2_000, dailyChanges: 7, unpaidRequests: 9, feePercent: 40 };
      expect(await owners().quotasOf(ANNA)).toEqual(own);
      expect(await owners().find(ANNA)).toMatchObject({
        since: TIME,
        quotas: own,
      });
      expect(await actions()).toEqual(['two', 'one']);
    });

    test('something is suspended once and goes on once, each time with its entry', async () => {
      const of = (kind: SuspendedKind, at: number, more = {}): Suspension => ({
        kind,
        target: ANNA,
        at,
        operator: OPERATOR,
        ...more,
      });
      const [owner, wallet] = [of('owner', TIME, { reason: 'spam "ü"' }), of('wallet', TIME + 1)];
      const done = [
        await owners().suspend(owner, entry('owner.suspended')),
        await owners().suspend(wallet, entry('wallet.suspended')),
        await owners().suspend(of('owner', TIME + 9), entry('again')),
        await owners().resume('project', ANNA, entry('nothing')),
      ];
      expect(done).toEqual([true, true, false, false]);
      expect(await owners().suspensions()).toEqual([wallet, owner]);
      expect(await owners().resume('owner', ANNA, entry('owner.resumed'))).toBe(true);
      expect(await owners().suspensions()).toEqual([wallet]);
      expect(await actions()).toEqual(['owner.resumed', 'wallet.suspended', 'owner.suspended']);
    });

    test('projects that are suspended, by themselves or with their owner, are not in the marketplace', async () => {
      const projects = createSqlProjects(database);
      const [one, two, other] = [newProject(), newProject(), newProject({ owner: BORIS })];
      for (const it of [one, two, other]) await projects.create(it, undefined, []);
      const listed = async () => {
        const found = await projects.market({ words: [], sort: 'new', since: 0, limit: 10 });
        return found.map(({ project }) => project.id).sort();
      };
      const by = { at: TIME, operator: OPERATOR };
      await owners().suspend({ kind: 'project', target: one.id, ...by }, entry('a'));
      expect(await listed()).toEqual([two.id, other.id].sort());
      await owners().suspend({ kind: 'owner', target: ANNA, ...by }, entry('b'));
      expect(await listed()).toEqual([other.id]);
      await owners().suspend({ kind: 'wallet', target: BORIS, ...by }, entry('c'));
      expect(await listed()).toEqual([other.id]);
      expect(await projects.listAll(10)).toHaveLength(3);
    });

    test('an entry is kept exactly, with the event that it is the cause of or not at all', async () => {
      const projects = createSqlProjects(database);
      const project = newProject();
      const actor = { wallet: ANNA, keyId: 'key_1', address: '203.0.113.9', requestId: 'req_1' };
      const cause = { actor, target: project.id, details: { 'ünï "': [1, null] } };
      const told = { ...eventOf(project, 'project.created'), cause };
      expect(await projects.create(project, undefined, [told], 0)).toEqual({ status: 'quota_reached' });
      expect(await audit().list({ limit: 10 })).toEqual([]);
      await projects.create(project, undefined, [told]);
      expect(await audit().list({ limit: 10 })).toEqual([
        {
          ...{ seq: expect.any(Number), id: expect.stringMatching(/^aud_/), at: told.at, owner: ANNA },
          ...{ ...cause, action: 'project.created' },
        },
      ]);
    });

    test('the log is read newest first, page by page, by owner, actor, target and action, and forgotten by age', async () => {
      const all = [
        entry('a', { target: 'prj_1' }, TIME),
        entry('b', { owner: BORIS }, TIME + 1),
        entry('a', { actor: { wallet: BORIS } }, TIME + 2),
        entry('c', {}, TIME + 3),
      ];
      await audit().append(all);
      const [newest] = await audit().list({ limit: 1 });
      expect(newest?.action).toBe('c');
      expect(await actions({ before: newest?.seq })).toEqual(['a', 'b', 'a']);
      expect(await actions({ owner: BORIS })).toEqual(['b']);
      expect(await actions({ actor: BORIS })).toEqual(['a']);
      expect(await actions({ target: 'prj_1' })).toEqual(['a']);
      expect(await actions({ action: 'a', owner: ANNA })).toEqual(['a', 'a']);
      expect([await audit().prune(TIME + 2, 1), await audit().prune(TIME + 2, 9)]).toEqual([1, 1]);
      expect(await actions()).toEqual(['c', 'a']);
    });
  });
}
