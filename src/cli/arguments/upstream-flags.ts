import { readSecretFile } from '../../server/configuration/secret-file.js';
import { UsageError } from '../command.js';

/** Flags that say how calls reach an upstream; for `readArguments`. */
export const UPSTREAM_FLAGS = {
  header: { type: 'string', multiple: true },
  'remove-header': { type: 'string', multiple: true },
  'query-param': { type: 'string', multiple: true },
  'remove-query-param': { type: 'string', multiple: true },
  'timeout-ms': { type: 'string' },
  retries: { type: 'string' },
  health: { type: 'string' },
  'health-interval': { type: 'string' },
} as const;

/** What was given for {@link UPSTREAM_FLAGS}. */
export interface UpstreamFlags {
  readonly header?: readonly string[] | undefined;
  readonly 'remove-header'?: readonly string[] | undefined;
  readonly 'query-param'?: readonly string[] | undefined;
  readonly 'remove-query-param'?: readonly string[] | undefined;
  readonly 'timeout-ms'?: string | undefined;
  readonly retries?: string | undefined;
  readonly health?: string | undefined;
  readonly 'health-interval'?: string | undefined;
}

/** What of {@link UPSTREAM_FLAGS} stands in the help. */
export const UPSTREAM_HELP = `  --header <header>    added to each call, such as the key of your API: "Authorization: env:API_KEY", "X-Key: @file"; as often
                       as you like. The value is kept encrypted and shown to nobody; env: and @ keep it out of the history
                       of your shell
  --query-param <p>    the same for a parameter of the query: "api_key: env:API_KEY"
  --timeout-ms <n>     how long the upstream may take until it begins to answer, in milliseconds (default 30000)
  --retries <n>        how often a GET or HEAD is sent again whose connection failed before any response (0 to 3, default 1)
  --health <path>      looks at the upstream there, below the path of --upstream, as calls go, and sells nothing while it is
                       down; "none" ends that
  --health-interval <seconds>   from one look to the next (default 30)
  --remove-header <name>, --remove-query-param <name>   update: takes one away`;

type Changes = Readonly<Record<string, string | null>>;

/** The fields of an upstream that they say; those that were not given are missing. Null takes away. */
export function readUpstreamFlags(flags: UpstreamFlags, env: NodeJS.ProcessEnv = process.env): object {
  const { 'timeout-ms': timeout, retries, health, 'health-interval': interval } = flags;
  const headers = additionsOf('--header', flags.header, flags['remove-header'], env);
  const query = additionsOf('--query-param', flags['query-param'], flags['remove-query-param'], env);
  return {
    ...(headers === undefined ? {} : { headers }),
    ...(query === undefined ? {} : { query }),
    ...(timeout === undefined ? {} : { timeout_ms: wholeNumber('--timeout-ms', timeout) }),
    ...(retries === undefined ? {} : { retries: wholeNumber('--retries', retries) }),
    ...healthOf(health, interval),
  };
}

function healthOf(path: string | undefined, interval: string | undefined): object {
  if (path === undefined && interval === undefined) return {};
  if (path === 'none') return { health: null };
  const seconds = interval === undefined ? {} : { interval: wholeNumber('--health-interval', interval) };
  return { health: { ...(path === undefined ? {} : { path }), ...seconds } };
}

function additionsOf(
  flag: string,
  added: readonly string[] = [],
  removed: readonly string[] = [],
  env: NodeJS.ProcessEnv,
): Changes | undefined {
  if (added.length === 0 && removed.length === 0) return undefined;
  const values = added.map((text) => readAddition(flag, text, env));
  return Object.fromEntries([...removed.map((name) => [name, null] as const), ...values]);
}

/** `Name: value`. What was given is in no complaint: it may be the secret. */
function readAddition(flag: string, text: string, env: NodeJS.ProcessEnv): readonly [name: string, value: string] {
  const [, name, value] = /^([^:]*[^:\s])\s*:\s*(.+)$/s.exec(text.trim()) ?? [];
  if (name === undefined || value === undefined) {
    throw new UsageError(`${flag} must be as in "Name: value", "Name: env:VARIABLE" or "Name: @file"`);
  }
  if (value.startsWith('env:')) return [name, fromEnvironment(flag, value.slice('env:'.length), env)];
  return value.startsWith('@') ? [name, fromFile(flag, value.slice(1))] : [name, value];
}

function fromEnvironment(flag: string, variable: string, env: NodeJS.ProcessEnv): string {
  const value = env[variable];
  if (value) return value;
  throw new UsageError(`${flag}: the environment has no variable ${variable}`);
}

function fromFile(flag: string, path: string): string {
  const text = readSecretFile(path);
  if (text === undefined) throw new UsageError(`${flag}: the file "${path}" cannot be read`);
  return text.trim();
}

function wholeNumber(flag: string, text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new UsageError(`${flag} must be a whole number, not "${text}"`);
}
