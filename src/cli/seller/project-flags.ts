import { readFileSync } from 'node:fs';
import { defined } from '../../lib/defined.js';
import { pricesArgument } from '../arguments/route-argument.js';
import { UsageError } from '../command.js';
import { PRICE_FLAGS, type PriceFlags, readPriceFlags } from './price-flags.js';
import { readUpstreamFlags, UPSTREAM_FLAGS, type UpstreamFlags } from './upstream-flags.js';

/** Flags of `tollhouse projects create`, for `readArguments`. */
export const PROJECT_FLAGS = {
  slug: { type: 'string' },
  name: { type: 'string' },
  upstream: { type: 'string' },
  price: { type: 'string' },
  split: { type: 'string' },
  listed: { type: 'boolean' },
  private: { type: 'boolean' },
  allowed: { type: 'string' },
  file: { type: 'string' },
  ...PRICE_FLAGS,
  ...UPSTREAM_FLAGS,
} as const;

/** What was given for {@link PROJECT_FLAGS}. */
export interface ProjectFlags extends PriceFlags, UpstreamFlags {
  readonly slug?: string | undefined;
  readonly name?: string | undefined;
  readonly upstream?: string | undefined;
  readonly price?: string | undefined;
  readonly split?: string | undefined;
  readonly listed?: boolean | undefined;
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
  const changes = file === undefined ? changesFrom(flags) : readProjectFlags({ ...flags, file });
  if (Object.keys(changes).length === 0) throw new UsageError('say what to change; see tollhouse projects --help');
  return changes;
}

function changesFrom({ name, upstream, price, split, ...more }: ProjectFlags): object {
  const changed = { ...defined({ url: upstream }), ...readUpstreamFlags(more) };
  return {
    ...defined({ name }),
    ...(Object.keys(changed).length === 0 ? {} : { upstream: changed }),
    ...(price === undefined ? {} : { pricing: { prices: null, ...pricesArgument('--price', price) } }),
    ...(split === undefined ? {} : { split: split.split(',').map(readShare) }),
    ...visibilityFrom(more),
    ...readPriceFlags(more),
  };
}

function fromFlags({ slug, name, upstream, price, split, ...more }: ProjectFlags): object {
  if (slug === undefined || upstream === undefined || price === undefined) {
    throw new UsageError('--slug, --upstream and --price are needed, or --file; see tollhouse projects --help');
  }
  return {
    slug,
    name: name ?? slug,
    upstream: { url: upstream, ...readUpstreamFlags(more) },
    pricing: pricesArgument('--price', price),
    ...(split === undefined ? {} : { split: split.split(',').map(readShare) }),
    ...visibilityFrom(more),
    ...readPriceFlags(more),
  };
}

function visibilityFrom({ listed, private: isPrivate, allowed }: ProjectFlags): object {
  if (listed && (isPrivate || allowed !== undefined))
    throw new UsageError('a project is --listed or --private, not both');
  if (listed) return { visibility: 'listed' };
  if (allowed !== undefined) return { visibility: 'private', allowed: allowed.split(',').map((it) => it.trim()) };
  return isPrivate ? { visibility: 'private' } : {};
}

function fromFile(path: string): object {
  try {
    const json: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof json === 'object' && json !== null) return json;
  } catch (error) {
    throw new UsageError(
      `--file: "${path}" cannot be read (${error instanceof Error ? error.message : String(error)})`,
    );
  }
  throw new UsageError(`--file: "${path}" is not a JSON object`);
}

function readShare(text: string): { readonly recipient: string; readonly bps: number } {
  const [, recipient, bps] = /^(\w+)=(\d{1,5})$/.exec(text.trim()) ?? [];
  if (recipient !== undefined && bps !== undefined) return { recipient, bps: Number(bps) };
  throw new UsageError(`--split must be <wallet>=<basis points>,… that sum to 10000, and "${text}" is none`);
}
