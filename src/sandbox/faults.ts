import { badOption } from '../errors/errors.js';

/**
 * What goes wrong with a call:
 * `drop` (a sent transaction gets its signature back and never lands), `late` (it lands some slots later),
 * `delay` (the response comes late), `error` (a JSON-RPC error), `429` (HTTP status 429; over WebSocket an error of that code),
 * `hang` (no response, the connection stays), `disconnect` (the connection is cut), `silent` (a subscription is accepted
 * and never notifies), `forget` (the node keeps no history: look-ups know nothing of what has landed, and its first available
block is the newest one).
 */
export type FaultKind = 'drop' | 'late' | 'delay' | 'error' | '429' | 'hang' | 'disconnect' | 'silent' | 'forget';

/** A fault on demand. */
export interface Fault {
  readonly kind: FaultKind;
  /** JSON-RPC method it applies to. Default: all that the kind makes sense for. */
  readonly method?: string;
  /** How many calls it applies to. Default: all until it is removed. */
  readonly times?: number;
  /** For `delay`: milliseconds. Default 100. */
  readonly delayMs?: number;
  /** For `late`: slots until the transaction lands. Default 5. */
  readonly slots?: number;
  /** For `error`: the JSON-RPC code. Default -32005 ("node is unhealthy"). */
  readonly code?: number;
  /** For `error`: the text. */
  readonly message?: string;
  /**
   * The call takes effect, and only then the fault strikes: a transaction lands whose response is lost. Default false.
   */
  readonly takesEffect?: boolean;
}

/** The faults in force. */
export interface Faults {
  /**
   * Adds a fault. The first added that applies to a call wins.
   *
   * @throws TollhouseError `bad_option` when the fault makes no sense
   */
  add(fault: Fault): { remove(): void };
  /** Removes all faults. */
  clear(): void;
}

/** The faults as the dispatcher sees them. */
export interface FaultSource extends Faults {
  /** The fault that applies to this call, counted as used. */
  take(method: string): Fault | undefined;
}

const SENDING: ReadonlySet<FaultKind> = new Set(['drop', 'late']);
/** What a node answers from its history. */
const REMEMBERING: ReadonlySet<string> = new Set([
  'getSignatureStatuses',
  'getTransaction',
  'getSignaturesForAddress',
  'getFirstAvailableBlock',
]);
const KINDS: readonly FaultKind[] = ['drop', 'late', 'delay', 'error', '429', 'hang', 'disconnect', 'silent', 'forget'];
const FIELDS = ['kind', 'method', 'times', 'delayMs', 'slots', 'code', 'message', 'takesEffect'];
const COUNTS = ['times', 'delayMs', 'slots'] as const;

/**
 * Creates an empty list of faults.
 *
 * @param methods - the names a fault may give as its method
 */
export function createFaults(methods: readonly string[]): FaultSource {
  let active: { readonly fault: Fault; left: number }[] = [];
  return {
    add: (fault) => {
      check(fault, methods);
      const entry = { fault, left: fault.times ?? Number.POSITIVE_INFINITY };
      active.push(entry);
      return {
        remove: () => {
          active = active.filter((other) => other !== entry);
        },
      };
    },
    clear: () => {
      active = [];
    },
    take: (method) => {
      const entry = active.find(({ fault, left }) => left > 0 && applies(fault, method));
      if (entry !== undefined) {
        entry.left -= 1;
        active = active.filter(({ left }) => left > 0);
      }
      return entry?.fault;
    },
  };
}

function applies({ kind, method }: Fault, called: string): boolean {
  if (method !== undefined) {
    return method === called;
  }
  return makesSense(kind, called);
}

function makesSense(kind: FaultKind, called: string): boolean {
  if (SENDING.has(kind)) return called === 'sendTransaction';
  if (kind === 'forget') return REMEMBERING.has(called);
  return kind !== 'silent' || called.endsWith('Subscribe');
}

function check(fault: Fault, methods: readonly string[]): void {
  const { kind, method } = fault;
  if (!KINDS.includes(kind)) {
    throw badOption('faults.add', `unknown kind "${kind}"; the kinds are ${KINDS.join(', ')}`, 'kind');
  }
  const unknown = Object.keys(fault).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined) {
    throw badOption('faults.add', `unknown field "${unknown}"; the fields are ${FIELDS.join(', ')}`, unknown);
  }
  if (method !== undefined && !methods.includes(method)) {
    throw badOption('faults.add', `the sandbox has no method "${method}"`, 'method');
  }
  if (method !== undefined && !makesSense(kind, method)) {
    throw badOption('faults.add', `"${kind}" applies to ${targetOf(kind)} only, not to "${method}"`, 'method');
  }
  for (const name of COUNTS) {
    const value = fault[name];
    if (value !== undefined && (!Number.isInteger(value) || value < 1)) {
      throw badOption('faults.add', `"${name}" must be a whole number above 0, got ${value}`, name);
    }
  }
}

function targetOf(kind: FaultKind): string {
  if (SENDING.has(kind)) return 'sendTransaction';
  return kind === 'forget' ? [...REMEMBERING].join(', ') : 'subscriptions';
}
