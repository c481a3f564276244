import { defined } from '../../lib/defined.js';
import { priceArgument } from '../arguments/price-argument.js';
import { readTime } from '../arguments/time-argument.js';
import { UsageError } from '../command.js';

/** Options of what can be changed of a key. */
export const CHANGES = {
  name: { type: 'string' },
  scopes: { type: 'string' },
  budget: { type: 'string' },
  expires: { type: 'string' },
  'allowed-projects': { type: 'string' },
  'allowed-ips': { type: 'string' },
  metadata: { type: 'string' },
} as const;

/** Which option fills which field. */
export const KEY_FIELDS = {
  '/name': '--name',
  '/scopes': '--scopes',
  '/spending': '--budget',
  '/expires_at': '--expires',
  '/project_id': '--project',
  '/mode': '--mode',
  '/allowed_projects': '--allowed-projects',
  '/allowed_ips': '--allowed-ips',
  '/metadata': '--metadata',
  '/expire_old_in': '--expire-old-in',
} as const;

/** Takes away what an option is about. */
const NONE = 'none';

/** What was given for {@link CHANGES}. */
type Given = Readonly<Partial<Record<keyof typeof CHANGES, string | undefined>>>;

/** What is to be said of a key, as far as other readers look. */
export interface KeyChanges {
  readonly allowed_projects?: readonly string[];
}

/** What a new key is to be: there is nothing yet that "none" could take away. */
export function keyDraft(values: Given): KeyChanges {
  const fields = Object.entries(keyPatch(values)).filter(([, value]) => value !== null);
  return Object.fromEntries(fields);
}

/** The merge patch that some options ask for. */
export function keyPatch(values: Given): KeyChanges {
  const { name, scopes, budget, expires, metadata } = values;
  return defined({
    name,
    scopes: listOf(scopes),
    spending: orNull(budget, readKeyBudget),
    expires_at: orNull(expires, (text) => new Date(readTime('--expires', text) ?? 0).toISOString()),
    allowed_projects: values['allowed-projects'] === NONE ? [] : listOf(values['allowed-projects']),
    allowed_ips: values['allowed-ips'] === NONE ? [] : listOf(values['allowed-ips']),
    metadata: metadata === undefined ? undefined : readNotes(metadata),
  });
}

function orNull<T>(text: string | undefined, read: (text: string) => T): T | null | undefined {
  if (text === undefined) return undefined;
  return text === NONE ? null : read(text);
}

function listOf(text: string | undefined): readonly string[] | undefined {
  return text?.split(',').map((it) => it.trim());
}

function readNotes(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`--metadata must be JSON such as '{"team":"a"}', not "${text}"`);
  }
}

/** What a key may spend, such as `10 USDC/day`. */
function readKeyBudget(text: string): object {
  const [, price, window] = /^(.*)\/(\w+)$/.exec(text) ?? [];
  if (price === undefined)
    throw new UsageError(`--budget must be an amount in a time such as "10 USDC/day", not "${text}"`);
  const { amount, token } = priceArgument('--budget', price);
  return { limit: amount, token, window };
}
