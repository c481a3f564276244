import { TollhouseError } from '../../errors/errors.js';
import { defined } from '../../lib/defined.js';
import { parseDecimal } from '../../protocol/money/money.js';
import { moneyOf } from '../../protocol/networks/tokens.js';
import type { Token } from '../../protocol/types.js';
import type { KeyMode, KeySpending, ServiceKeyFacts } from '../../storage/keys/service-keys.js';
import { readAllowedAddress } from './allowed-addresses.js';
import { DEFAULT_SCOPES, type Scope } from './scopes.js';

/** A service key as its owner asks for it. */
export interface WantedServiceKey {
  readonly name: string;
  /** A project of the owner's, the only one that the key may touch. Default: none, and the key is not restricted. */
  readonly projectId?: string | undefined;
  /** Default: to call, and to see what that cost. */
  readonly scopes?: readonly Scope[] | undefined;
  /** Default: what is asked for here. */
  readonly mode?: KeyMode | undefined;
  /** Milliseconds since the epoch. Default: never. */
  readonly expiresAt?: number | undefined;
  /** Default: no limit. */
  readonly spending?: WantedSpending | undefined;
  /** Addresses and networks in CIDR notation. Default: every address. */
  readonly allowedIps?: readonly string[] | undefined;
  /** Requests a second. Default: the service's. */
  readonly perSecond?: number | undefined;
  /** Notes of its owner, at most 2,048 bytes as JSON. Default: none. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Ids of the only projects that may be called with it, whosever they are. Default: all. */
  readonly allowedProjects?: readonly string[] | undefined;
}

/** What a key may spend, as its owner says it. */
export interface WantedSpending {
  /** Decimal, in whole tokens. */
  readonly limit: string | number;
  /** Symbol or mint of a known token. */
  readonly token: string;
  readonly window: KeySpending['window'];
  /** Default `block`. */
  readonly action?: KeySpending['action'] | undefined;
}

/** What a new key is checked with. */
export interface NewKeySetup {
  /** Tokens in which spending can be limited. */
  readonly tokens: readonly Token[];
  /** What a key is that its owner says nothing of. */
  readonly mode: KeyMode;
  /** Whether there is nothing here but mainnet, where test keys are good for nothing. Default: with mode `live`. */
  readonly isLiveOnly?: boolean | undefined;
  /** Wallet that owns a project. */
  readonly projectOwner: (projectId: string) => Promise<string | undefined>;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

/** What of a key its owner decides. */
export type ChosenFacts = Omit<ServiceKeyFacts, 'id' | 'publicKey' | 'owner' | 'createdAt' | 'version'>;

/** All keys of a wallet are one list. */
const MAX_NOTE_BYTES = 2_048;

/**
 * Checks what somebody wants of a new key.
 * @param had - notes that the key has already: they may be longer, of the time before there was a bound. Default: none
 * @throws TollhouseError `validation_failed`, naming the field
 */
export async function chooseFacts(
  setup: NewKeySetup,
  owner: string,
  wanted: WantedServiceKey,
  had: WantedServiceKey['metadata'] = {},
): Promise<ChosenFacts> {
  const { name, projectId, scopes = DEFAULT_SCOPES, mode = setup.mode, expiresAt, perSecond, metadata = {} } = wanted;
  const { isLiveOnly = setup.mode === 'live' } = setup;
  if (isLiveOnly && mode === 'test') throw fault('/mode', 'must be live: this is mainnet');
  if (expiresAt !== undefined && expiresAt <= setup.now()) throw fault('/expires_at', 'must be in the future');
  const notes = JSON.stringify(metadata);
  if (Buffer.byteLength(notes) > MAX_NOTE_BYTES && notes !== JSON.stringify(had))
    throw fault('/metadata', `must have at most ${MAX_NOTE_BYTES} bytes as JSON`);
  const allowedIps = (wanted.allowedIps ?? []).map(readAllowed);
  const spending = wanted.spending === undefined ? {} : { spending: readSpending(wanted.spending, setup.tokens) };
  if (projectId !== undefined && (await setup.projectOwner(projectId)) !== owner) {
    throw fault('/project_id', 'must be a project of yours');
  }
  const allowedProjects = [...new Set(wanted.allowedProjects)];
  for (const [index, id] of allowedProjects.entries()) {
    const isThere = (await setup.projectOwner(id)) !== undefined;
    if (!isThere) throw fault(`/allowed_projects/${index}`, 'must be the id of a project');
  }
  return {
    name,
    allowedProjects,
    scopes: [...new Set(scopes)],
    mode,
    allowedIps: [...new Set(allowedIps)],
    metadata,
    ...spending,
    ...defined({ projectId, expiresAt, perSecond }),
  };
}

function readAllowed(text: string, index: number): string {
  const allowed = readAllowedAddress(text);
  if (allowed !== undefined) return allowed;
  throw fault(`/allowed_ips/${index}`, 'must be an IP address, or a network such as 203.0.113.0/24');
}

function readSpending(
  { limit, token, window, action = 'block' }: WantedSpending,
  tokens: readonly Token[],
): KeySpending {
  const found = tokens.find((it) => it.mint === moneyOf(token) || it.symbol.toUpperCase() === token.toUpperCase());
  if (found === undefined) {
    throw fault('/spending/token', `must be one of ${tokens.map(({ symbol }) => symbol).join(', ')}`);
  }
  const amount = parseDecimal(limit, found.decimals);
  if (!amount.ok) throw fault('/spending/limit', amount.detail);
  const { mint: asset, symbol, decimals } = found;
  return { limit: amount.value, asset, token: symbol, decimals, window, action };
}

function fault(pointer: string, detail: string): TollhouseError {
  const errors = [{ pointer, code: 'custom', detail }];
  return new TollhouseError('validation_failed', `The request is not valid. ${pointer}: ${detail}.`, { errors });
}
