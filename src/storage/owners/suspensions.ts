import { TollhouseError } from '../../errors/errors.js';
import { isPending, type MaybePromise, whenKnown } from '../../lib/maybe-promise.js';
import type { OwnerStore, SuspendedKind, Suspension } from './owners.js';

/** What operators have suspended, as it was at most {@link STALE_MS} ago; what this process suspends it knows at once. */
export interface Suspensions {
  /** One suspension; undefined when there is none. */
  find(kind: SuspendedKind, target: string): MaybePromise<Suspension | undefined>;
  /** The suspension of a project, or of what its owner sells. */
  ofProject(project: { readonly id: string; readonly owner: string }): MaybePromise<Suspension | undefined>;
  /** The suspension of a service key, or of the wallet that it acts for. */
  ofKey(key: { readonly id: string; readonly owner: string }): MaybePromise<Suspension | undefined>;
  /** @throws TollhouseError `project_suspended` for a project that is suspended, or whose owner is */
  refuseProject(project: { readonly id: string; readonly owner: string }): MaybePromise<void>;
  /** @throws TollhouseError `service_key_suspended`, or `wallet_suspended` for a key whose wallet is */
  refuseKey(key: { readonly id: string; readonly owner: string }): MaybePromise<void>;
  /** @throws TollhouseError `wallet_suspended` */
  refuseWallet(wallet: string): MaybePromise<void>;
  /** Something was changed here: reads them anew. */
  refresh(): Promise<void>;
}

/** What {@link createSuspensions} works with. */
export interface SuspensionsParts {
  readonly store: Pick<OwnerStore, 'suspensions'>;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

type Known = ReadonlyMap<string, Suspension>;

/** How old what is known is when it is read anew, behind the back of who asks. */
const FRESH_MS = 10_000;
/** How old it may be: a suspension must be known everywhere after 30 s. */
const STALE_MS = 25_000;
const RETRY_SECONDS = 60;

const nameOf = (kind: SuspendedKind, target: string) => `${kind} ${target}`;

/** Remembers what is suspended. There are few, and each request asks. */
export function createSuspensions({ store, now }: SuspensionsParts): Suspensions {
  let known: Known = new Map();
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<Known> | undefined;

  async function read(): Promise<Known> {
    const at = now();
    const found = await store.suspensions();
    known = new Map(found.map((it) => [nameOf(it.kind, it.target), it]));
    readAt = at;
    return known;
  }

  /** One reading for all who ask meanwhile. */
  function readOnce(): Promise<Known> {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  }

  function recent(): MaybePromise<Known> {
    const age = now() - readAt;
    if (age < FRESH_MS) return known;
    if (age >= STALE_MS) return readOnce();
    // Whom it fails for asks again, and learns of it when what is known is too old.
    readOnce().catch(() => {});
    return known;
  }

  const find = (kind: SuspendedKind, target: string) => whenKnown(recent(), (all) => all.get(nameOf(kind, target)));
  const ofProject: Suspensions['ofProject'] = ({ id, owner }) =>
    whenKnown(recent(), (all) => all.get(nameOf('project', id)) ?? all.get(nameOf('owner', owner)));

  const ofKey: Suspensions['ofKey'] = ({ id, owner }) =>
    whenKnown(recent(), (all) => all.get(nameOf('key', id)) ?? all.get(nameOf('wallet', owner)));

  return {
    find,
    ofProject,
    ofKey,
    refuseKey: (key) => whenKnown(ofKey(key), refuseActing),
    refuseProject: (project) => whenKnown(ofProject(project), refuseSold),
    refuseWallet: (wallet) => whenKnown(find('wallet', wallet), refuseSuspended),
    async refresh() {
      // A reading that is under way may be of before the change.
      if (reading !== undefined && isPending(reading)) await reading.catch(() => undefined);
      await read();
    },
  };
}

function refuseSold(suspension: Suspension | undefined): void {
  if (suspension === undefined) return;
  const detail = 'The operator of this service has suspended this project; nothing was charged.';
  throw new TollhouseError('project_suspended', detail, { retryAfterSeconds: RETRY_SECONDS });
}

function refuseSuspended(suspension: Suspension | undefined): void {
  if (suspension === undefined) return;
  throw new TollhouseError('wallet_suspended', WALLET_SUSPENDED);
}

function refuseActing(suspension: Suspension | undefined): void {
  if (suspension?.kind !== 'key') return refuseSuspended(suspension);
  throw new TollhouseError('service_key_suspended', KEY_SUSPENDED);
}

const KEY_SUSPENDED =
  'The operator of this service has suspended the service key that this payment was asked for with. Nothing was charged.';
/** What is told to a wallet that is suspended. */
const WALLET_SUSPENDED =
  'The operator of this service has suspended this wallet: neither it nor its keys act here. Ask the operator.';
