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
  readonly metadata?: Readonly<Record<string, string>> | undefined;
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
export type ChosenFacts = Omit<ServiceKeyFacts, 'id' | 'publicKey' | 'owner' | 'createdAt'>;

/**
 * Checks what somebody wants of a new key.
 * @throws TollhouseError `validation_failed`, naming the field
 */
export async function chooseFacts(setup: NewKeySetup, owner: string, wanted: WantedServiceKey): Promise<ChosenFacts> {
  const { name, projectId, scopes = DEFAULT_SCOPES, mode = setup.mode, expiresAt, perSecond, metadata = {} } = wanted;
  const { isLiveOnly = setup.mode === 'live' } = setup;
  if (isLiveOnly && mode === 'test') throw fault('/mode', 'must be live: this is mainnet');
  if (expiresAt !== undefined && expiresAt <= setup.now()) throw fault('/expires_at', 'must be in the future');
  const allowedIps = (wanted.allowedIps ?? []).map(readAllowed);
  const spending = wanted.spending === undefined ? {} : { spending: readSpending(wanted.spending, setup.tokens) };
  if (projectId !== undefined && (await setup.projectOwner(projectId)) !== owner) {
    throw fault('/project_id', 'must be a project of yours');
  }
  return {
    name,
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
