import { setTimeout as pause } from 'node:timers/promises';
import type { Fault } from '../../src/sandbox/start-sandbox.js';
import type { OwnPostgres } from '../helpers/storage/postgres.js';
import { holdWrites } from '../helpers/storage/write-hold.js';
import type { Chance } from './chance.js';
import type { OpenShop } from './open-shop.js';

/** Something that goes wrong for a while. Begins it; what it answers sets it right again. */
export interface Trouble {
  readonly name: string;
  begin(): Promise<() => Promise<void> | void>;
}

/** How often something happens, to the others. */
export type Weighted = readonly (readonly [weight: number, trouble: Trouble])[];

type Sandbox = OpenShop['sandbox'];

/** What a proxy before a node says when it does not know better; a code of the node's own would say that it took nothing. */
const INTERNAL_ERROR = { kind: 'error', code: -32_603, message: 'Internal error' } as const;
const CALLS = ['getSignatureStatuses', 'getTransaction', 'getMultipleAccounts', 'simulateTransaction'];

/** What happens to the chain, for everybody on it. */
export function chainTroubles(sandbox: Sandbox, chance: Chance): Weighted {
  const fault = (name: string, make: () => Fault): Trouble => ({
    name,
    async begin() {
      const added = sandbox.faults.add(make());
      return () => added.remove();
    },
  });
  return [
    [3, fault('slow', () => ({ kind: 'delay', delayMs: chance.between(200, 1_500) }))],
    [3, fault('errors', () => ({ kind: 'error' }))],
    [3, fault('429', () => ({ kind: '429' }))],
    [3, fault('hanging', () => ({ kind: 'hang' }))],
    [2, fault('one call hangs', () => ({ kind: 'hang', method: chance.pick(CALLS) }))],
    [2, fault('one call errs', () => ({ kind: 'error', method: chance.pick(CALLS) }))],
    [3, fault('cut', () => ({ kind: 'disconnect' }))],
    [3, fault('sockets silent', () => ({ kind: 'silent' }))],
    [3, fault('dropped', () => ({ kind: 'drop', times: chance.between(1, 20) }))],
    [3, fault('late', () => ({ kind: 'late', slots: chance.between(10, 100) }))],
    [3, fault('sent, answer lost', () => ({ kind: 'disconnect', method: 'sendTransaction', takesEffect: true }))],
    [2, fault('sent, answer an error', () => ({ ...INTERNAL_ERROR, method: 'sendTransaction', takesEffect: true }))],
    [1, standstill(sandbox)],
  ];
}

function standstill(sandbox: Sandbox): Trouble {
  return {
    name: 'no new slots',
    async begin() {
      sandbox.pauseSlots();
      return () => sandbox.resumeSlots();
    },
  };
}

/** What happens to a seller's process. */
export function processTroubles(shop: OpenShop): Weighted {
  const { seller, chance } = shop;
  const restart = (name: string, end: () => Promise<void>): Trouble => ({
    name,
    begin: () =>
      disturbing(shop, async () => {
        await end();
        await pause(chance.between(0, 1_500));
        await seller.start();
        return () => {};
      }),
  });
  return [
    [3, restart('SIGKILL', () => seller.kill())],
    [1, restart('SIGTERM', () => seller.stop())],
  ];
}

/** What happens to a seller's database. */
export function databaseTroubles(shop: OpenShop, postgres: OwnPostgres | undefined): Weighted {
  const { databaseUrl } = shop;
  const locked: Trouble = {
    name: 'writes locked',
    begin: () => disturbing(shop, () => holdWrites(databaseUrl)),
  };
  if (postgres === undefined) return [[1, locked]];
  const cut: Trouble = {
    name: 'connections cut',
    begin: () =>
      disturbing(shop, async () => {
        await postgres.query(databaseUrl, CUT);
        return () => {};
      }),
  };
  const crash: Trouble = {
    name: 'database crashed',
    begin: () =>
      disturbing(shop, async () => {
        await postgres.crash();
        return () => postgres.restart();
      }),
  };
  return [
    [2, locked],
    [3, cut],
    [1, crash],
  ];
}

const CUT = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()`;

/** Notes from when to when something was disturbed. */
async function disturbing(
  { disturbances }: OpenShop,
  begin: () => Promise<() => Promise<void> | void>,
): Promise<() => Promise<void>> {
  const disturbance = { from: performance.now(), to: Number.POSITIVE_INFINITY };
  disturbances.push(disturbance);
  const end = await begin();
  return async () => {
    await end();
    disturbance.to = performance.now();
  };
}
