import { randomBytes } from 'node:crypto';
import { TollhouseError } from '../../errors/errors.js';
import { defined } from '../../lib/defined.js';
import {
  type Adjustment,
  type AdjustResult,
  type Debit,
  type DebitResult,
  MOST_PASSES,
  type NewPass,
  overBecause,
  type Pass,
  type PassEnds,
  type PassQuery,
  type PassStore,
  PRICE_OF,
  statedEnd,
  takenByPayment,
} from './pass-store.js';

/** Bounds of the passes in memory. */
export interface MemoryPassOptions {
  /** How many passes are kept at most; above that those that are over go, and none is opened while there are none. Default 100,000. */
  readonly maxPasses?: number;
  /** How many requests are remembered at least that took something, until that is {@link PassStore.spent}; a tenth more at most. Default 100,000. */
  readonly maxDebits?: number;
  /** Clock, milliseconds since the epoch. */
  readonly now?: () => number;
}

type Entry = { -readonly [Field in keyof Pass]: Pass[Field] };

const TOKEN_SECRET_BYTES = 32;

/** Passes in this process's memory: for one instance, and for tests. They are forgotten at exit. */
export function createMemoryPassStore(options: MemoryPassOptions = {}): PassStore {
  return new MemoryPassStore(options);
}

class MemoryPassStore implements PassStore {
  readonly #now: () => number;
  readonly #maxPasses: number;
  readonly #byId = new Map<string, Entry>();
  readonly #byPayment = new Map<string, Entry>();
  /** The payments that have renewed a pass. */
  readonly #renewals = new Map<Entry, readonly string[]>();
  readonly #byWallet = new Map<string, Set<Entry>>();
  /** Those of which something is left that covers the price of a route, by their scope. */
  readonly #ofPrices = new Map<string, Set<Entry>>();
  readonly #maxDebits: number;
  /** Those whose end was not told, with the time when they were used up last. */
  readonly #untold = new Map<Entry, number | undefined>();
  /** In the order in which they were made. */
  readonly #debits = new Map<string, bigint>();
  readonly #secret = randomBytes(TOKEN_SECRET_BYTES);

  constructor({ maxPasses = 100_000, maxDebits = 100_000, now = Date.now }: MemoryPassOptions) {
    this.#now = now;
    this.#maxPasses = maxPasses;
    this.#maxDebits = maxDebits;
  }

  async open({ lastsMs, ...pass }: NewPass): Promise<Pass> {
    const known = this.#byPayment.get(pass.paymentId) ?? this.#renew({ ...pass, ...defined({ lastsMs }) });
    if (known !== undefined) return this.#copyOf(known);
    if (this.#byId.size >= this.#maxPasses) this.#makeRoom();
    const openedAt = this.#now();
    const endsAt = lastsMs === undefined ? undefined : openedAt + lastsMs + (pass.graceMs ?? 0);
    const entry: Entry = { ...pass, ...defined({ endsAt }), openedAt, serial: 0 };
    this.#byId.set(entry.id, entry);
    this.#byPayment.set(entry.paymentId, entry);
    this.#untold.set(entry, openedAt);
    const ofWallet = this.#byWallet.get(entry.wallet) ?? new Set();
    this.#byWallet.set(entry.wallet, ofWallet.add(entry));
    this.#notePrice(entry);
    const taken = takenByPayment(pass);
    if (taken !== undefined) this.#note(`${entry.id} ${entry.paymentId}`, taken);
    return this.#copyOf(entry);
  }

  /** The pass that a purchase renews, renewed. */
  #renew({ paymentId, wallet, site, scope, lastsMs = 0, graceMs }: NewPass): Entry | undefined {
    if (graceMs === undefined) return undefined;
    const now = this.#now();
    const [entry] = [...(this.#byWallet.get(wallet) ?? [])]
      .filter((it) => it.graceMs !== undefined && it.site === site && it.scope === scope)
      .filter((it) => overBecause(it, now) === undefined)
      .sort((one, other) => (other.endsAt ?? 0) - (one.endsAt ?? 0));
    if (entry === undefined) return undefined;
    const longest = Math.max(entry.graceMs ?? 0, graceMs);
    entry.endsAt = (statedEnd(entry) ?? now) + lastsMs + longest;
    entry.graceMs = longest;
    this.#byPayment.set(paymentId, entry);
    this.#renewals.set(entry, [...(this.#renewals.get(entry) ?? []), paymentId]);
    return entry;
  }

  debit({ passId, requestId, amount, serial }: Debit): DebitResult {
    const entry = this.#byId.get(passId);
    if (entry?.left === undefined) return { ok: false, fault: 'unknown' };
    const key = `${passId} ${requestId}`;
    const takenBefore = this.#debits.get(key);
    if (takenBefore !== undefined) return { ok: true, left: entry.left, takenBefore };
    if (serial !== undefined && serial !== entry.serial) return { ok: false, fault: 'revoked' };
    const fault = overBecause(entry, this.#now()) ?? (entry.left < amount ? 'used_up' : undefined);
    if (fault !== undefined) return { ok: false, fault };
    this.#setLeft(entry, entry.left - amount);
    this.#note(key, amount);
    return { ok: true, left: entry.left };
  }

  #setLeft(entry: Entry, left: bigint): void {
    entry.left = left;
    if (left === 0n && this.#untold.has(entry)) this.#untold.set(entry, this.#now());
    this.#notePrice(entry);
  }

  #notePrice(entry: Entry): void {
    const { scope, left = 0n, revokedAt } = entry;
    if (!scope.startsWith(PRICE_OF)) return;
    if (left === 0n || revokedAt !== undefined) return this.#leavePrice(entry);
    this.#ofPrices.set(scope, (this.#ofPrices.get(scope) ?? new Set()).add(entry));
  }

  #leavePrice(entry: Entry): void {
    const open = this.#ofPrices.get(entry.scope);
    if (open?.delete(entry) && open.size === 0) this.#ofPrices.delete(entry.scope);
  }

  #note(key: string, amount: bigint): void {
    this.#debits.set(key, amount);
    if (this.#debits.size <= this.#maxDebits * 1.1) return;
    // Many at once: a map that has lost its first entries is walked over the holes each time.
    for (const oldest of this.#debits.keys()) {
      if (this.#debits.size <= this.#maxDebits) break;
      this.#debits.delete(oldest);
    }
  }

  async adjust({ passId, requestId, amount }: Adjustment): Promise<AdjustResult> {
    const key = `${passId} ${requestId}`;
    const taken = this.#debits.get(key);
    const entry = this.#byId.get(passId);
    if (taken === undefined || entry?.left === undefined) return { ok: false, fault: 'unknown' };
    const more = amount - taken;
    const lacking = entry.left < more ? 'used_up' : undefined;
    const fault = more > 0n ? (overBecause(entry, this.#now()) ?? lacking) : undefined;
    if (fault !== undefined) return { ok: false, fault };
    this.#setLeft(entry, entry.left - more);
    this.#debits.set(key, amount);
    return { ok: true, left: entry.left };
  }

  async taken(passId: string, requestId: string): Promise<bigint | undefined> {
    return this.#debits.get(`${passId} ${requestId}`);
  }

  async giveBack(passId: string, requestId: string, forGood = false): Promise<boolean> {
    const key = `${passId} ${requestId}`;
    const amount = this.#debits.get(key);
    const entry = this.#byId.get(passId);
    this.#debits.delete(key);
    if (forGood) this.#note(key, 0n);
    if (!amount || entry?.left === undefined) return false;
    this.#setLeft(entry, entry.left + amount);
    return true;
  }

  spent(passId: string, requestId: string): void {
    this.#debits.delete(`${passId} ${requestId}`);
  }

  async find(id: string): Promise<Pass | undefined> {
    const entry = this.#byId.get(id);
    return entry && this.#copyOf(entry);
  }

  async findByPayment(paymentId: string): Promise<Pass | undefined> {
    const entry = this.#byPayment.get(paymentId);
    return entry && this.#copyOf(entry);
  }

  async findFor({ wallet, site, scope }: PassQuery): Promise<readonly Pass[]> {
    return this.#ofWallet(wallet)
      .filter((pass) => pass.site === site && pass.scope === scope)
      .sort((one, other) => lastsUntil(other) - lastsUntil(one))
      .slice(0, MOST_PASSES);
  }

  async list(wallet: string): Promise<readonly Pass[]> {
    return this.#ofWallet(wallet).reverse().slice(0, MOST_PASSES);
  }

  async priceScopes(asked: readonly string[]): Promise<readonly string[]> {
    return asked.filter((scope) => this.#ofPrices.has(scope));
  }

  async revoke(id: string): Promise<boolean> {
    const entry = this.#byId.get(id);
    if (entry === undefined || entry.revokedAt !== undefined) return false;
    entry.revokedAt = this.#now();
    this.#notePrice(entry);
    return true;
  }

  async withdrawTokens(id: string): Promise<number | undefined> {
    const entry = this.#byId.get(id);
    if (entry !== undefined) entry.serial += 1;
    return entry?.serial;
  }

  async tellEnds({ usedUpForMs, limit }: PassEnds): Promise<readonly Pass[]> {
    const time = this.#now();
    const told: Pass[] = [];
    for (const [entry, usedUpAt = time] of this.#untold) {
      const { over } = this.#copyOf(entry);
      const isUsedUp = entry.left === 0n;
      if (over === undefined || (isUsedUp && over !== 'revoked' && usedUpAt > time - usedUpForMs)) continue;
      this.#untold.delete(entry);
      if (over !== 'revoked') told.push(this.#copyOf(entry));
      if (told.length === limit) break;
    }
    return told;
  }

  async tokenSecret(): Promise<Uint8Array> {
    return this.#secret;
  }

  #ofWallet(wallet: string): Pass[] {
    return [...(this.#byWallet.get(wallet) ?? [])].map((entry) => this.#copyOf(entry));
  }

  #copyOf(entry: Entry): Pass {
    return { ...entry, ...defined({ over: overBecause(entry, this.#now()) }) };
  }

  #makeRoom(): void {
    const time = this.#now();
    for (const entry of this.#byId.values()) if (overBecause(entry, time) !== undefined) this.#forget(entry);
    if (this.#byId.size < this.#maxPasses) return;
    const detail = 'Too many passes are kept at once; try again shortly.';
    throw new TollhouseError('store_unavailable', detail, { retryAfterSeconds: 2 });
  }

  #forget(entry: Entry): void {
    this.#untold.delete(entry);
    this.#byId.delete(entry.id);
    for (const paymentId of [entry.paymentId, ...(this.#renewals.get(entry) ?? [])]) this.#byPayment.delete(paymentId);
    this.#renewals.delete(entry);
    this.#leavePrice(entry);
    const ofWallet = this.#byWallet.get(entry.wallet);
    ofWallet?.delete(entry);
    if (ofWallet?.size === 0) this.#byWallet.delete(entry.wallet);
  }
}

/** Of one that is over, nothing. */
function lastsUntil({ over, endsAt = Number.MAX_SAFE_INTEGER }: Pass): number {
  return over === undefined ? endsAt : 0;
}
