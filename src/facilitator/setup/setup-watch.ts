import { errorText } from '../../lib/error-text.js';
import type { NetworkId } from '../../protocol/types.js';
import { type SetupCheck, type SetupCode, type SetupFinding, setupCheck } from './setup-finding.js';
import type { PaymentNeed } from './setup-target.js';

/** What a check that nobody asked for has found. */
export interface KnownSetup extends SetupCheck {
  /** When it was, milliseconds since the epoch. */
  readonly checkedAt: number;
}

/** Looks at the set-up by itself, once it is used, so that the operator hears of what is wrong. */
export interface SetupWatch {
  /**
   * Notes that payments are taken here, and what for: it is looked at in the background, once for all that is noted within a
   * moment. Costs nothing where it was noted before. At most 100 recipients and tokens are looked at.
   */
  begin(needs?: readonly PaymentNeed[]): void;
  /** A payment failed in a way that may be the operator's to mend: another look, at most once a minute. */
  again(): void;
  /** What was found last; undefined while nothing was looked at. */
  known(): KnownSetup | undefined;
  close(): void;
}

/** What a watch works with. */
export interface SetupWatchParts {
  readonly network: NetworkId;
  /** Whether anything is looked at unasked. */
  readonly enabled: boolean;
  check(needs: readonly PaymentNeed[], signal: AbortSignal): Promise<readonly SetupFinding[]>;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

/** The first requests of several routes share a look, and none of them waits behind it. */
const GATHER_MS = 200;
const AGAIN_MS = 60_000;
const MAX_NEEDS = 100;
/** Pauses between looks while something is wrong, each twice as long as the one before. */
const OUTAGE = { firstMs: 2_000, longestMs: 300_000 };
const FAULT = { firstMs: 30_000, longestMs: 300_000 };
/** What hides everything behind it: nothing more is known before it is over. */
const OUTAGES: ReadonlySet<SetupCode> = new Set(['rpc_unreachable', 'facilitator_unreachable']);

/**
 * Makes the watch of a facilitator. It keeps no process alive, warns of each thing once, and again only when it was mended
 * and is back.
 */
export function createSetupWatch({ network, enabled, check, now }: SetupWatchParts): SetupWatch {
  const needs = new Map<string, PaymentNeed>();
  const stopped = new AbortController();
  const tell = createTeller(network);
  let timer: NodeJS.Timeout | undefined;
  let dueAt = Number.POSITIVE_INFINITY;
  let known: KnownSetup | undefined;
  let begun = false;
  let running = false;
  let repeats = 0;

  /** A look that is due earlier stays. */
  function schedule(afterMs: number): void {
    const at = performance.now() + afterMs;
    if (stopped.signal.aborted || at >= dueAt) return;
    clearTimeout(timer);
    dueAt = at;
    timer = setTimeout(() => void look(), afterMs);
    timer.unref();
  }

  async function look(): Promise<void> {
    dueAt = Number.POSITIVE_INFINITY;
    if (running) return schedule(GATHER_MS);
    running = true;
    const asked = needs.size;
    const found = setupCheck(await check([...needs.values()], stopped.signal).catch(brokenCheck));
    running = false;
    if (stopped.signal.aborted) return;
    known = Object.freeze({ ...found, checkedAt: now() });
    repeats = tell(found.findings) ? 0 : repeats + 1;
    if (asked < needs.size) schedule(GATHER_MS);
    else if (!found.ok) schedule(pauseAfter(found, repeats));
  }

  return {
    begin(more = []) {
      if (!enabled) return;
      const before = needs.size;
      for (const need of more.slice(0, MAX_NEEDS - before)) needs.set(`${need.payTo} ${need.asset}`, need);
      if (begun && needs.size === before) return;
      begun = true;
      schedule(GATHER_MS);
    },
    again() {
      if (!enabled || running || (known !== undefined && now() - known.checkedAt < AGAIN_MS)) return;
      schedule(GATHER_MS);
    },
    known: () => known,
    close() {
      stopped.abort();
      clearTimeout(timer);
    },
  };
}

function pauseAfter({ findings }: SetupCheck, repeats: number): number {
  const isOutage = findings.some(({ code, severity }) => severity === 'error' && OUTAGES.has(code));
  const { firstMs, longestMs } = isOutage ? OUTAGE : FAULT;
  return Math.min(firstMs * 2 ** repeats, longestMs);
}

/** Nobody waits for the check, and a fault in it must not end the process. */
function brokenCheck(error: unknown): readonly SetupFinding[] {
  process.emitWarning(`the set-up could not be checked: ${errorText(error)}`, { code: 'TOLLHOUSE_SETUP_CHECK' });
  return [];
}

/** What was warned of in this process and is not mended: several facilitators with one fee payer say it once. */
const told = new Set<string>();

/** Told by whoever asks them (`remote.ts`, `slot-look.ts`, `file-in-place.ts`), whether the set-up is looked at or not. */
const TOLD_ELSEWHERE: ReadonlySet<SetupCode> = new Set([
  'facilitator_unreachable',
  'facilitator_other_network',
  'rpc_behind',
  'store_moved',
]);

/**
 * Makes what warns the operator of findings, with a code for each kind such as `TOLLHOUSE_FEE_PAYER_EMPTY`, which
 * `node --disable-warning=<code>` switches off. Called with all there is each time, it warns of what is new, and answers whether
 * anything has changed.
 */
function createTeller(network: NetworkId): (findings: readonly SetupFinding[]) => boolean {
  let last: ReadonlySet<string> = new Set();
  return (findings) => {
    const known = new Map(findings.map((it) => [`${network} ${it.code} ${it.about}`, it]));
    for (const [key, finding] of known) {
      if (!told.has(key) && !TOLD_ELSEWHERE.has(finding.code)) warn(finding);
      told.add(key);
    }
    const mended = [...last].filter((key) => !known.has(key));
    for (const key of mended) told.delete(key);
    const isNew = [...known.keys()].some((key) => !last.has(key));
    last = new Set(known.keys());
    return isNew || mended.length > 0;
  };
}

function warn({ code, detail, fix }: SetupFinding): void {
  process.emitWarning(`${detail}. To mend it: ${fix}`, { code: `TOLLHOUSE_${code.toUpperCase()}` });
}
