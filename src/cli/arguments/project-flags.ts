import { readFileSync } from 'node:fs';
import { defined } from '../../lib/defined.js';
import { isRecord } from '../../lib/parsed.js';
import { UsageError } from '../command.js';
import { fileFault } from '../output/system-words.js';
import { CHARGING_FLAGS, type ChargingArgument, type ChargingFlags, readChargingFlags } from './charging-flags.js';
import { PRICE_FLAGS, type PriceFlags, readPriceFlags } from './price-flags.js';
import { hasPrice, type PricesArgument, pricesArgument, wholePrice } from './prices-argument.js';
import type { RouteArgument } from './route-argument.js';
import { readUpstreamFlags, UPSTREAM_FLAGS, type UpstreamFlags } from './upstream-flags.js';

/** Flags of `tollhouse projects create`, for `readArguments`. */
export const PROJECT_FLAGS = {
  slug: { type: 'string' },
  name: { type: 'string' },
  description: { type: 'string' },
  tags: { type: 'string' },
  example: { type: 'string' },
  upstream: { type: 'string' },
  price: { type: 'string' },
  split: { type: 'string' },
  listed: { type: 'boolean' },
  unlisted: { type: 'boolean' },
  private: { type: 'boolean' },
  allowed: { type: 'string' },
  file: { type: 'string' },
  ...CHARGING_FLAGS,
  ...PRICE_FLAGS,
  ...UPSTREAM_FLAGS,
} as const;

/** Which of {@link PROJECT_FLAGS} fills which field. */
export const PROJECT_FIELDS = {
  '/slug': '--slug',
  '/name': '--name',
  '/description': '--description',
  '/tags': '--tags',
  '/example': '--example',
  '/upstream/url': '--upstream',
  '/upstream/headers': '--header',
  '/upstream/query': '--query-param',
  '/upstream/timeout_ms': '--timeout-ms',
  '/upstream/retries': '--retries',
  '/upstream/health': '--health',
  '/upstream/health/interval': '--health-interval',
  '/pricing': '--price',
  '/pricing/network': '--network',
  '/pricing/charge_on': '--charge-on',
  '/routes': '--route',
  '/free_calls': '--free-calls',
  '/split': '--split',
  '/allowed': '--allowed',
} as const;

/** What is to be said of a project, as far as other readers of flags look. */
export interface ProjectChanges {
  readonly slug?: string;
  readonly name?: string;
  readonly upstream?: object;
  readonly pricing?: PricesArgument & ChargingArgument;
  readonly routes?: readonly RouteArgument[] | null;
}

/** What was given for {@link PROJECT_FLAGS}. */
export interface ProjectFlags extends ChargingFlags, PriceFlags, UpstreamFlags {
  readonly slug?: string | undefined;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly tags?: string | undefined;
  readonly example?: string | undefined;
  readonly upstream?: string | undefined;
  readonly price?: string | undefined;
  readonly split?: string | undefined;
  readonly listed?: boolean | undefined;
  readonly unlisted?: boolean | undefined;
  readonly private?: boolean | undefined;
  readonly allowed?: string | undefined;
  readonly file?: string | undefined;
}

/** The body of `POST /api/v1/projects` that was asked for. The server checks its values. */
export function readProjectFlags({ file, ...flags }: ProjectFlags): object {
  const given = Object.entries(flags).filter(([, value]) => value !== undefined);
  if (file === undefined) return fromFlags(flags);
  if (given.length > 0)
    throw new UsageError(`--file says it all; leave out --${given.map(([name]) => name).join(', --')}`);
  return fromFile(file);
}

/** The merge patch of a project that was asked for. */
export function readProjectChanges({ slug, file, ...flags }: ProjectFlags): object {
  if (slug !== undefined) throw new UsageError('a slug cannot be changed; make another project');
  const changes = file === undefined ? patchOf(changesFrom(flags)) : readProjectFlags({ ...flags, file });
  if (Object.keys(changes).length === 0) throw new UsageError('say what to change; see npx tollhouse projects --help');
  return changes;
}

/** A merge patch: a price that is given is the whole of it. */
export function patchOf({ pricing, ...changes }: ProjectChanges): object {
  if (pricing === undefined) return changes;
  return { ...changes, pricing: hasPrice(pricing) ? wholePrice(pricing) : pricing };
}

/** The fields of a project that flags say. */
export function changesFrom({ name, upstream, price, split, ...more }: ProjectFlags): ProjectChanges {
  const changed = { ...defined({ url: upstream }), ...readUpstreamFlags(more) };
  const pricing = { ...(price === undefined ? {} : pricesArgument('--price', price)), ...readChargingFlags(more) };
  return {
    ...defined({ name }),
    ...(Object.keys(changed).length === 0 ? {} : { upstream: changed }),
    ...(Object.keys(pricing).length === 0 ? {} : { pricing }),
    ...(split === undefined ? {} : { split: split.split(',').map(readShare) }),
    ...shownFrom(more),
    ...visibilityFrom(more),
    ...readPriceFlags(more),
  };
}

/** What is shown of it in the marketplace. */
function shownFrom({ description, tags, example }: ProjectFlags): object {
  return {
    ...defined({ description }),
    ...(tags === undefined ? {} : { tags: tags.split(',').map((it) => it.trim()) }),
    ...(example === undefined ? {} : { example: readExample(example) }),
  };
}

function readExample(text: string): object {
  const [, method = 'GET', path, body] = /^(?:([A-Za-z]+) +)?(\/\S*)(?: +(\S.*))?$/s.exec(text.trim()) ?? [];
  const fault = `--example must be as in "GET /weather/berlin" or 'POST /weather {"town":"berlin"}', not "${text}"`;
  if (path === undefined) throw new UsageError(fault);
  try {
    return { method: method.toUpperCase(), path, ...(body === undefined ? {} : { body: JSON.parse(body) }) };
  } catch {
    throw new UsageError(fault);
  }
}

function fromFlags({ slug, name, upstream, price, split, ...more }: ProjectFlags): object {
  if (slug === undefined || upstream === undefined || price === undefined) {
    throw new UsageError('--slug, --upstream and --price are needed, or --file; see npx tollhouse projects --help');
  }
  if (more['health-interval'] !== undefined && more.health === undefined)
    throw new UsageError('--health-interval is the time between looks at --health <path>, which is missing');
  return {
    slug,
    name: name ?? slug,
    upstream: { url: upstream, ...withoutNull(readUpstreamFlags(more)) },
    pricing: { ...pricesArgument('--price', price), ...readChargingFlags(more) },
    ...(split === undefined ? {} : { split: split.split(',').map(readShare) }),
    ...shownFrom(more),
    ...visibilityFrom(more),
    ...withoutNull(readPriceFlags(more)),
  };
}

/** What null takes away a new project does not have. */
function withoutNull(fields: object): object {
  const kept = Object.entries(fields).filter(([, value]) => value !== null);
  return Object.fromEntries(kept.map(([name, value]) => [name, isRecord(value) ? withoutNull(value) : value]));
}

function visibilityFrom({ listed, unlisted, private: isPrivate, allowed }: ProjectFlags): object {
  const said = [listed, unlisted, isPrivate || allowed !== undefined].filter((it) => it);
  if (said.length > 1) throw new UsageError('a project is --listed, --unlisted or --private, one of them');
  if (listed || unlisted) return { visibility: listed ? 'listed' : 'unlisted' };
  if (allowed !== undefined) return { visibility: 'private', allowed: allowed.split(',').map((it) => it.trim()) };
  return isPrivate ? { visibility: 'private' } : {};
}

function fromFile(path: string): object {
  try {
    const json: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof json === 'object' && json !== null) return json;
  } catch (error) {
    throw new UsageError(`--file: "${path}" cannot be read (${fileFault(error)})`);
  }
  throw new UsageError(`--file: "${path}" is not a JSON object`);
}

function readShare(text: string): { readonly recipient: string; readonly bps: number } {
  const [, recipient, bps] = /^(\w+)=(\d{1,5})$/.exec(text.trim()) ?? [];
  if (recipient !== undefined && bps !== undefined) return { recipient, bps: Number(bps) };
  throw new UsageError(`--split must be <wallet>=<basis points>,… that sum to 10000, and "${text}" is none`);
}
