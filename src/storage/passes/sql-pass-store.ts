import { randomBytes } from 'node:crypto';
import { eventSteps } from '../events/event-statements.js';
import type { EventRecord } from '../events/events.js';
import type { SqlDatabase, Step } from '../sql/sql-database.js';
import { summand } from '../sql/sql-sums.js';
import { debitGroups } from './debit-groups.js';
import { passEnds } from './pass-ends.js';
import { firstPass, toPass } from './pass-rows.js';
import { PASSES, PRICE_SCOPES } from './pass-statements.js';
import { type Debit, type DebitResult, type NewPass, type Pass, type PassStore, takenByPayment } from './pass-store.js';
import { RENEWALS } from './renewal-statements.js';

/** Passes that can be forgotten. */
export interface PrunablePassStore extends PassStore {
  /**
   * Forgets what requests took long ago, which then is not given back any more, and passes that are over and whose payments
   * are forgotten.
   * @param before - debits from before it go, milliseconds since the epoch
   * @param limit - how many of each kind go at most
   * @param booksBefore - passes that were over before it go
   * @returns how many went
   */
  prune(before: number, limit: number, booksBefore: number): Promise<number>;
}

const SECRET = 'tokens';
const SECRET_BYTES = 32;

/**
 * Passes on SQLite or Postgres. The database is not closed with them.
 * @param now - clock, milliseconds since the epoch
 */
export function createSqlPassStore(database: SqlDatabase, now: () => number = Date.now): PrunablePassStore {
  const reads = passReads(database, now);
  return {
    ...reads,
    ...passDebits(database, reads, now),
    open: (pass, events = []) => open(database, reads, { pass, events }, now()),
    tellEnds: passEnds(database, now),
    revoke: async (id) => (await database.query(PASSES.revoke, id, now())).length > 0,
    async withdrawTokens(id) {
      const [row] = await database.query(PASSES.withdrawTokens, id);
      return row === undefined ? undefined : Number(row.serial);
    },
    async priceScopes(asked) {
      const rows = await database.query(PRICE_SCOPES[database.dialect], JSON.stringify(asked));
      return rows.map(({ scope }) => String(scope));
    },
    async tokenSecret() {
      await database.query(PASSES.makeSecret, SECRET, randomBytes(SECRET_BYTES));
      const [row] = await database.query(PASSES.secret, SECRET);
      if (!(row?.secret instanceof Uint8Array)) throw new Error('the secret of passes is gone');
      return row.secret;
    },
    async prune(before, limit, booksBefore) {
      const debits = await database.query(PASSES.pruneDebits, before, limit);
      const passes = await database.query(PASSES.prune, booksBefore, limit);
      await database.batch(passes.map(({ id }): Step => [RENEWALS.prune, String(id)]));
      return debits.length + passes.length;
    },
  };
}

type PassReads = Pick<PassStore, 'find' | 'findByPayment' | 'findFor' | 'list'>;

function passReads(database: SqlDatabase, now: () => number): PassReads {
  const one = async (...step: Step) => firstPass(await database.query(...step), now());
  const all = async (...step: Step) => (await database.query(...step)).map((row) => toPass(row, now()));
  return {
    find: (id) => one(PASSES.find, id),
    findByPayment: (paymentId) => one(PASSES.findByPayment, paymentId),
    findFor: ({ wallet, site, scope }) => all(PASSES.findFor, wallet, site, scope),
    list: (wallet) => all(PASSES.list, wallet),
  };
}

interface Opening {
  readonly pass: NewPass;
  readonly events: readonly EventRecord[];
}

async function open(database: SqlDatabase, reads: PassReads, opening: Opening, time: number): Promise<Pass> {
  const { pass } = opening;
  await (pass.graceMs === undefined ? openNew(database, opening, time) : openOrRenew(database, opening, time));
  const opened = await reads.findByPayment(pass.paymentId);
  if (opened === undefined) throw new Error('a pass was forgotten while it was opened');
  return opened;
}

async function openNew(database: SqlDatabase, { pass, events }: Opening, time: number): Promise<void> {
  const { id, paymentId, wallet, site, scope, kind, mint = null, bought, left, lastsMs } = pass;
  const endsAt = lastsMs === undefined ? null : time + lastsMs;
  const named = [id, paymentId, wallet, site, scope, kind, mint] as const;
  const told = [pass.owner ?? null, pass.projectId ?? null] as const;
  const balance = [bought, left].map((it) => (it === undefined ? null : summand(it)));
  const taken = takenByPayment(pass);
  await database.batchIf(
    [PASSES.open, ...named, ...balance, time, endsAt, left === 0n ? time : endsAt, ...told],
    [...(taken === undefined ? [] : [[PASSES.noteDebit, id, paymentId, taken, time] as const]), ...eventSteps(events)],
  );
}

/** The events are of the pass that is opened; who finds one to renew tells nothing. */
async function openOrRenew(database: SqlDatabase, { pass, events }: Opening, time: number): Promise<void> {
  const { id, paymentId, wallet, site, scope, lastsMs = 0, graceMs = 0, owner = null, projectId = null } = pass;
  const bought = [wallet, site, scope, time, paymentId] as const;
  const open: Step = [RENEWALS.open, ...bought, id, time + lastsMs + graceMs, graceMs, owner, projectId];
  const prolong: readonly Step[] = [
    [RENEWALS.note, ...bought, lastsMs, graceMs],
    [RENEWALS.prolong, paymentId],
  ];
  const lock: readonly Step[] = database.dialect === 'postgres' ? [[RENEWALS.lock, `${wallet} ${site} ${scope}`]] : [];
  const [opened] = await database.batchIf(open, [...prolong, ...eventSteps(events)], lock);
  if (opened === undefined) await database.batch([...lock, ...prolong]);
}

function passDebits(
  database: SqlDatabase,
  { find }: PassReads,
  now: () => number,
): Pick<PassStore, 'debit' | 'adjust' | 'taken' | 'giveBack'> {
  /** Those who come in the same turn are one commit of SQLite by themselves. */
  async function takeOne({ passId, requestId, amount, serial }: Debit): Promise<bigint | undefined> {
    const time = now();
    const [row] = await database.batchIf(
      [PASSES.debit, passId, requestId, amount, serial ?? null, time],
      [[PASSES.noteDebit, passId, requestId, amount, time]],
    );
    return row === undefined ? undefined : BigInt(String(row.remaining));
  }

  async function taken(passId: string, requestId: string): Promise<bigint | undefined> {
    const [row] = await database.query(PASSES.wasDebited, passId, requestId);
    return row === undefined ? undefined : BigInt(String(row.amount));
  }

  async function whyNot({ passId, requestId, serial }: Debit): Promise<DebitResult> {
    const pass = await find(passId);
    if (pass?.left === undefined) return { ok: false, fault: 'unknown' };
    const takenBefore = await taken(passId, requestId);
    if (takenBefore !== undefined) return { ok: true, left: pass.left, takenBefore };
    if (serial !== undefined && serial !== pass.serial) return { ok: false, fault: 'revoked' };
    return { ok: false, fault: pass.over ?? 'used_up' };
  }

  const take = database.dialect === 'postgres' ? debitGroups(database, now) : takeOne;
  return {
    async debit(asked) {
      const debit = { ...asked, amount: summand(asked.amount) };
      const left = await take(debit);
      return left === undefined ? whyNot(debit) : { ok: true, left };
    },
    async adjust({ passId, requestId, amount }) {
      const [of, whole] = [[passId, requestId] as const, summand(amount)];
      const guard: Step = [PASSES.adjust, ...of, whole, now()];
      const [row] = await database.batchIf(guard, [[PASSES.setDebit, ...of, whole]], [[PASSES.lock, passId]]);
      if (row !== undefined) return { ok: true, left: BigInt(String(row.remaining)) };
      const pass = (await taken(...of)) === undefined ? undefined : await find(passId);
      return { ok: false, fault: pass === undefined ? 'unknown' : (pass.over ?? 'used_up') };
    },
    taken,
    async giveBack(passId, requestId, forGood = false) {
      const none: readonly Step[] = forGood ? [[PASSES.noteDebit, passId, requestId, 0n, now()]] : [];
      const [, given = []] = await database.batch([
        [PASSES.lock, passId],
        [PASSES.giveBack, passId, requestId],
        [PASSES.endDebit, passId, requestId],
        ...none,
      ]);
      return given.length > 0;
    },
  };
}
