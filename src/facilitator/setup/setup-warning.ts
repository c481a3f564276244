import type { NetworkId } from '../../protocol/types.js';
import type { SetupCode, SetupFinding } from './setup-finding.js';

/** What was warned of in this process and is not mended: several facilitators with one fee payer say it once. */
const told = new Set<string>();

/** Told by whoever asks them (`remote.ts`), whether the set-up is looked at or not. */
const TOLD_ELSEWHERE: ReadonlySet<SetupCode> = new Set(['facilitator_unreachable', 'facilitator_other_network']);

/**
 * Makes what warns the operator of findings, with a code for each kind such as `TOLLHOUSE_FEE_PAYER_EMPTY`, which
 * `node --disable-warning=<code>` switches off. Called with all there is each time, it warns of what is new, and answers whether
 * anything has changed.
 */
export function createTeller(network: NetworkId): (findings: readonly SetupFinding[]) => boolean {
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
