import { type FieldFault, TollhouseError } from '../../errors/errors.js';
import { defined } from '../../lib/defined.js';
import { sharesFault, splitAmount } from '../../protocol/money/split.js';
import type { ProjectRecord, ProjectSettings, ProjectShare } from '../../storage/projects/projects.js';
import type { AddressGuard } from '../network-guard/address-guard.js';
import { fieldFault } from '../prices/field-fault.js';
import { callPrices } from '../prices/project-offers.js';
import { type PriceRules, readPricing } from '../prices/read-pricing.js';
import { readFreeCalls, readRoutes } from '../prices/read-routes.js';
import { hasDotSegments, upstreamTarget } from '../proxy/upstream-target.js';
import { sealWritten, writtenFaults } from '../upstream-secrets/sealed-additions.js';
import type { SecretBox } from '../upstream-secrets/secret-box.js';
import { payeesByDefault } from './payees.js';
import type { ProjectDraft } from './project-draft.js';
import { RESERVED_SLUGS } from './slugs.js';
import { allowedFault } from './visibility.js';

/** What the rules of projects ask others. */
export interface ProjectRules extends PriceRules {
  readonly addressGuard: Pick<AddressGuard, 'checkUrl'>;
  /** Whether an address can be a wallet's: on the curve, so that somebody can have its key. */
  readonly isWallet: (address: string) => boolean;
  /** The facilitator's keys, which are no recipients. */
  readonly feePayers: () => Promise<readonly string[]>;
  /** Encrypts what is added to calls. */
  readonly secretBox: SecretBox;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_HEALTH_MS = 30_000;
const DEFAULT_LIMITS = { perSecond: 100, concurrent: 50, maxBodyBytes: 10 * 1024 * 1024 };

/**
 * Fills in the defaults of a draft and checks what its form does not show. What is as it was before is not asked for again:
 * neither the address of the upstream nor the token.
 * @param before - the project that is changed; undefined for a new one
 * @throws TollhouseError `validation_failed` with every fault at once, `secrets_key_missing`, `secrets_key_unknown`,
 * `rate_limited` where too many host names are looked up
 */
export async function settingsOf(
  draft: ProjectDraft,
  { id, owner }: Pick<ProjectRecord, 'id' | 'owner'>,
  rules: ProjectRules,
  before?: ProjectRecord,
): Promise<ProjectSettings> {
  const { slug, name, description, upstream, visibility = 'unlisted', tags = [], metadata, example } = draft;
  const split = sharesOf(draft, owner);
  const allowed = draft.allowed?.length ? [...new Set(draft.allowed)] : undefined;
  const price = await readPricing(draft.pricing, rules, before?.price);
  const onNetwork = price.ok ? { ...rules, network: price.value.network } : rules;
  const routes = await readRoutes(draft.routes ?? [], draft.pricing, onNetwork, before);
  const freeCalls = readFreeCalls(draft.freeCalls);
  const priced = [price.ok ? price.value : [], routes.ok ? (routes.value ?? []).map((it) => it.price ?? []) : []];
  const amounts = priced
    .flat(2)
    .flatMap(callPrices)
    .map((it) => it.amount);
  const faults = [
    faultAt('/slug', slugFault(slug, before)),
    faultAt('/upstream/url', await upstreamFault(upstream.url, owner, rules, before)),
    faultAt('/upstream/health/path', healthFault(upstream)),
    ...writtenFaults(upstream, before?.upstream),
    ...[price, routes, freeCalls].flatMap((it) => (it.ok ? [] : it.faults)),
    faultAt('/split', await splitFault(split, amounts, rules)),
    faultAt('/example/path', exampleFault(example?.path)),
    ...(draft.allowed ?? []).map((it, at) => faultAt(`/allowed/${at}`, allowedFault(it, rules.isWallet))),
  ].filter((it) => it !== undefined);
  if (!price.ok || !routes.ok || !freeCalls.ok || faults.length > 0) throw invalid(faults);
  return {
    slug,
    name,
    upstream: {
      ...upstreamOf(upstream),
      ...sealWritten(rules.secretBox, id, upstream, before?.upstream),
    },
    price: price.value,
    split,
    limits: limitsOf(draft),
    visibility,
    tags: [...new Set(tags)],
    ...defined({ description, metadata, example, allowed, routes: routes.value, freeCalls: freeCalls.value }),
  };
}

function upstreamOf({ url, timeoutMs, retries, health }: ProjectDraft['upstream']): ProjectSettings['upstream'] {
  const looks = health && { path: health.path, intervalMs: health.intervalMs ?? DEFAULT_HEALTH_MS };
  return { url, timeoutMs: timeoutMs ?? DEFAULT_TIMEOUT_MS, ...defined({ retries, health: looks }) };
}

/** What the address itself must be, is told at its own place. */
function healthFault({ url, health }: ProjectDraft['upstream']): string | undefined {
  if (health === undefined || !URL.canParse(url)) return undefined;
  if (health.path.startsWith('/') && upstreamTarget(url, health.path) !== undefined) return undefined;
  return 'must be a path that begins with "/" and stays below the upstream; other characters as %XX';
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

/** Browsers fold such segments, also written as `%2e`: the call would be one to somebody else, with the credentials of whoever tries it. */
function exampleFault(path = ''): string | undefined {
  const segments = path.split(/[?#]/, 1).join().split(/[/\\]/);
  const isFolded = segments.some((it) => /^(?:\.|%2e){1,2}$/i.test(it));
  return isFolded ? 'must stay below its project: no segment may be "." or ".."' : undefined;
}

async function upstreamFault(
  url: string,
  owner: string,
  { addressGuard }: ProjectRules,
  before: ProjectRecord | undefined,
): Promise<string | undefined> {
  if (url === before?.upstream.url) return undefined;
  if (URL.canParse(url) && hasDotSegments(new URL(url).pathname)) {
    return 'must not have a segment "." or ".." that is encoded or has parameters after ";": write where it leads';
  }
  return addressGuard.checkUrl(url, owner);
}

async function splitFault(
  split: readonly ProjectShare[],
  amounts: readonly bigint[],
  { isWallet, feePayers }: ProjectRules,
): Promise<string | undefined> {
  const wrong = sharesFault(split);
  if (wrong !== undefined) return wrong;
  const recipients = split.map(({ recipient }) => recipient);
  if (new Set(recipients).size < recipients.length) return 'names a recipient twice';
  if (!recipients.every(isWallet)) return 'names a recipient that is no wallet: nobody can have its key';
  const keys = await feePayers();
  if (recipients.some((it) => keys.includes(it))) return "names the facilitator's own key, which is no recipient";
  const isTooSmall = amounts.some((it) => splitAmount(it, split).some((leg) => leg.amount === 0n));
  return isTooSmall ? 'leaves a recipient with nothing of so small a price' : undefined;
}

function faultAt(pointer: string, detail: string | undefined): FieldFault | undefined {
  return detail === undefined ? undefined : fieldFault(pointer, detail);
}

function invalid(errors: readonly FieldFault[]): TollhouseError {
  const detail = errors.map((it) => `${it.pointer}: ${it.detail}`).join('; ');
  return new TollhouseError('validation_failed', `The request is not valid. ${detail}.`, { errors });
}
