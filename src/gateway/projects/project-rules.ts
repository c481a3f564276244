import { type FieldFault, TollhouseError } from '../../errors/errors.js';
import { defined } from '../../lib/defined.js';
import { type Parsed, parsed, shown, unparsed } from '../../lib/parsed.js';
import { parseDecimal } from '../../protocol/money/money.js';
import { sharesFault, splitAmount } from '../../protocol/money/split.js';
import { networkFrom } from '../../protocol/networks/networks.js';
import type { NetworkId, Token } from '../../protocol/types.js';
import {
  MAX_PRICE_DECIMALS,
  type ProjectRecord,
  type ProjectSettings,
  type ProjectShare,
} from '../../storage/projects/projects.js';
import type { AddressGuard } from '../network-guard/address-guard.js';
import { payeesByDefault } from './payees.js';
import type { ProjectDraft } from './project-draft.js';
import { RESERVED_SLUGS } from './slugs.js';
import { allowedFault } from './visibility.js';

/** What the rules of projects ask others. */
export interface ProjectRules {
  readonly addressGuard: Pick<AddressGuard, 'checkUrl'>;
  /** A token by symbol or mint; undefined when there is none that can be paid in. */
  readonly findToken: (token: string) => Promise<Token | undefined>;
  /** What to say of one that is not found, after its name. */
  readonly tokenFault: (token: string) => Promise<string>;
  /** Whether an address can be a wallet's: on the curve, so that somebody can have its key. */
  readonly isWallet: (address: string) => boolean;
  /** The facilitator's keys, which are no recipients. */
  readonly feePayers: () => Promise<readonly string[]>;
  /** The facilitator's. */
  readonly network: NetworkId;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_LIMITS = { perSecond: 100, concurrent: 50, maxBodyBytes: 10 * 1024 * 1024 };
/** Payments of our own making answer amounts as JSON numbers, which must be exact. */
const MAX_PRICE = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Fills in the defaults of a draft and checks what its form does not show. What is as it was before is not asked for again:
 * neither the address of the upstream nor the token.
 * @param before - the project that is changed; undefined for a new one
 * @throws TollhouseError `validation_failed` with every fault at once
 */
export async function settingsOf(
  draft: ProjectDraft,
  owner: string,
  rules: ProjectRules,
  before?: ProjectRecord,
): Promise<ProjectSettings> {
  const { slug, name, description, upstream, visibility = 'unlisted', tags = [], metadata, example } = draft;
  const split = sharesOf(draft, owner);
  const allowed = draft.allowed?.length ? [...new Set(draft.allowed)] : undefined;
  const price = await readPrice(draft, rules, before);
  const faults = [
    faultAt('/slug', slugFault(slug, before)),
    faultAt('/upstream/url', await upstreamFault(upstream.url, rules, before)),
    ...(price.ok ? [] : [price.fault]),
    faultAt('/split', await splitFault(split, price.ok ? price.value.amount : undefined, rules)),
    ...(draft.allowed ?? []).map((it, at) => faultAt(`/allowed/${at}`, allowedFault(it, rules.isWallet))),
  ].filter((it) => it !== undefined);
  if (!price.ok || faults.length > 0) throw invalid(faults);
  return {
    slug,
    name,
    upstream: { url: upstream.url, timeoutMs: upstream.timeoutMs ?? DEFAULT_TIMEOUT_MS },
    price: price.value,
    split,
    limits: limitsOf(draft),
    visibility,
    tags: [...new Set(tags)],
    ...defined({ description, metadata, example, allowed }),
  };
}

function sharesOf({ split }: ProjectDraft, owner: string): readonly ProjectShare[] {
  if (split === undefined) return payeesByDefault(owner);
  return split.map(({ recipient, bps, label }) => ({ recipient, bps, ...defined({ label }) }));
}

function limitsOf({ limits = {} }: ProjectDraft): ProjectSettings['limits'] {
  return {
    perSecond: limits.perSecond ?? DEFAULT_LIMITS.perSecond,
    concurrent: limits.concurrent ?? DEFAULT_LIMITS.concurrent,
    maxBodyBytes: limits.maxBodyBytes ?? DEFAULT_LIMITS.maxBodyBytes,
  };
}

function slugFault(slug: string, before: ProjectRecord | undefined): string | undefined {
  if (before === undefined) return RESERVED_SLUGS.has(slug) ? 'is reserved; choose another one' : undefined;
  return slug === before.slug ? undefined : 'cannot be changed; make another project';
}

async function upstreamFault(
  url: string,
  { addressGuard }: ProjectRules,
  before: ProjectRecord | undefined,
): Promise<string | undefined> {
  if (url === before?.upstream.url) return undefined;
  return addressGuard.checkUrl(url);
}

type ReadPrice =
  | { readonly ok: true; readonly value: ProjectSettings['price'] }
  | { readonly ok: false; readonly fault: FieldFault };

async function readPrice({ pricing }: ProjectDraft, rules: ProjectRules, before?: ProjectRecord): Promise<ReadPrice> {
  const { amount, token: wanted, network = rules.network, chargeOn = [] } = pricing;
  const wrong = (field: string, detail: string) => ({ ok: false, fault: fault(`/pricing/${field}`, detail) }) as const;
  if (networkFrom(network) !== rules.network) return wrong('network', `must be "${rules.network}", the only one here`);
  const known = before?.price.token;
  const token = known?.mint === wanted ? known : await rules.findToken(wanted);
  if (token === undefined) return wrong('token', `${shown(wanted)} ${await rules.tokenFault(wanted)}`);
  if (token.decimals > MAX_PRICE_DECIMALS) return wrong('token', `must have at most ${MAX_PRICE_DECIMALS} decimals`);
  const units = readAmount(amount, token);
  if (!units.ok) return wrong('amount', units.detail);
  const charged = chargeOn.length === 0 ? undefined : [...new Set(chargeOn)];
  return { ok: true, value: { amount: units.value, token, network: rules.network, ...defined({ chargeOn: charged }) } };
}

function readAmount(text: string | number, { decimals }: Token): Parsed<bigint> {
  const amount = parseDecimal(text, decimals);
  if (!amount.ok) return amount;
  if (amount.value === 0n) return unparsed('must be more than zero');
  return amount.value > MAX_PRICE ? unparsed('is too large') : parsed(amount.value);
}

async function splitFault(
  split: readonly ProjectShare[],
  amount: bigint | undefined,
  { isWallet, feePayers }: ProjectRules,
): Promise<string | undefined> {
  const wrong = sharesFault(split);
  if (wrong !== undefined) return wrong;
  const recipients = split.map(({ recipient }) => recipient);
  if (new Set(recipients).size < recipients.length) return 'names a recipient twice';
  if (!recipients.every(isWallet)) return 'names a recipient that is no wallet: nobody can have its key';
  const keys = await feePayers();
  if (recipients.some((it) => keys.includes(it))) return "names the facilitator's own key, which is no recipient";
  const isTooSmall = amount !== undefined && splitAmount(amount, split).some((leg) => leg.amount === 0n);
  return isTooSmall ? 'leaves a recipient with nothing of so small a price' : undefined;
}

function faultAt(pointer: string, detail: string | undefined): FieldFault | undefined {
  return detail === undefined ? undefined : fault(pointer, detail);
}

function fault(pointer: string, detail: string): FieldFault {
  return { pointer, code: 'custom', detail };
}

function invalid(errors: readonly FieldFault[]): TollhouseError {
  const detail = errors.map((it) => `${it.pointer}: ${it.detail}`).join('; ');
  return new TollhouseError('validation_failed', `The request is not valid. ${detail}.`, { errors });
}
