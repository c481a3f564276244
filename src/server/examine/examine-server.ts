import { TollhouseError } from '../../errors/errors.js';
import { createSecretBox } from '../../gateway/upstream-secrets/secret-box.js';
import { wholeError } from '../../lib/error-text.js';
import { openStorage } from '../../storage/open-storage.js';
import { withoutPassword } from '../../storage/sql/database-url.js';
import { missingFile, readSchema, tryDatabase } from '../../storage/sql/schema-state.js';
import type { KeysInUse } from '../../storage/sql/secrets-keys.js';
import type { ServerConfiguration } from '../configuration/configuration.js';
import { foundSecretsKey } from '../configuration/kept-secrets-key.js';
import { missingSiteName } from '../configuration/site-name.js';
import { broken, type Examined, risky, well } from './examination.js';

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/;
const MEMORY = 'memory:';
const OTHER_KEY = 'set SECRETS_KEY to that key, or put it behind the present one, separated by a comma';

/** Looks at the database without changing it: whether it opens as for a server, and whether its schema is that of this version. */
export async function examineDatabase({ databaseUrl }: ServerConfiguration): Promise<Examined> {
  const what = 'DATABASE_URL';
  if (databaseUrl === MEMORY) {
    const detail = 'payments are forgotten when the server stops, and an answer that was paid for with them';
    return risky(what, detail, 'set DATABASE_URL to sqlite:./data/tollhouse.db or postgres://…');
  }
  const shown = withoutPassword(databaseUrl);
  const missing = missingFile(databaseUrl);
  if (missing !== undefined) return well(what, `${missing} is not there yet; the server makes it at its start`);
  try {
    const { pending } = await readSchema(databaseUrl);
    await tryDatabase(databaseUrl);
    if (pending.length === 0) return well(what, `${shown} opens, and its schema is current`);
    const detail = `${shown} opens; ${pending.length} steps of its schema are pending, which the server makes at its start`;
    return risky(what, detail, 'make a backup, then: npx tollhouse db migrate');
  } catch (error) {
    // Of a file, a pooler and too few connections the error says itself what to do.
    const [, detail = messageOf(error), fix = 'see that it is there and lets this user in'] =
      /^(.*?); ((?:name a|connect|allow) .*)$/.exec(messageOf(error)) ?? [];
    return broken(what, `${shown} cannot be used: ${detail}`, fix);
  }
}

/** Whether Redis answers, and takes what limits are counted in. */
export async function examineRedis({ redisUrl }: ServerConfiguration): Promise<readonly Examined[]> {
  const what = 'REDIS_URL';
  if (redisUrl === undefined) return [];
  const { host } = new URL(redisUrl);
  try {
    await (await openStorage(MEMORY, { redisUrl })).close();
    return [well(what, `${host} answers, and can be written to`)];
  } catch (error) {
    // Where Redis refuses, the error says itself what to do.
    const [, detail = messageOf(error), fix = 'see that Redis runs there and lets this user in'] =
      /^(.*?\)); (?!is it running)(.*)$/.exec(messageOf(error)) ?? [];
    return [broken(what, `${host} cannot be used: ${detail}`, fix)];
  }
}

/** Whether wallets can sign in for tokens. */
export function examineSecret({ jwtSecret, chain }: ServerConfiguration): Examined {
  const what = 'JWT_SECRET';
  if (jwtSecret !== undefined) return well(what, 'is long enough');
  if (chain === undefined) return well(what, 'is made anew by each start on the sandbox');
  const detail = 'is not set: wallets cannot sign in for access tokens, and projects and keys cannot be made';
  return risky(what, detail, 'JWT_SECRET=$(openssl rand -base64 48), the same for all instances');
}

/** Whether owners can add secrets to the calls of their upstreams, and what the database holds can be opened. */
export async function examineSecretsKey({ secretsKey, chain, databaseUrl }: ServerConfiguration): Promise<Examined> {
  const what = 'SECRETS_KEY';
  const given = chain === undefined && secretsKey.length === 0 ? foundSecretsKey(databaseUrl) : secretsKey;
  const box = createSecretBox('tollhouse doctor', given);
  const { secretsKeys, responseKeys } = await keysInUse(databaseUrl);
  const missingOf = (ids: readonly string[]) => ids.filter((id) => !box.has(id)).join(', ');
  const is = given.length === 0 ? 'is not set' : `is another key (id ${box.keyId})`;
  const [secretsOf, responsesOf] = [missingOf(secretsKeys), missingOf(responseKeys)];
  if (secretsOf !== '') {
    const detail = `${is}, and the database holds secrets of upstreams under the key ${secretsOf}: the server does not start`;
    return broken(what, detail, OTHER_KEY);
  }
  if (responsesOf !== '') {
    const detail = `${is}, and the database keeps responses of calls under the key ${responsesOf}, for a day at most: whoever asks for one again gets 503`;
    return risky(what, detail, OTHER_KEY);
  }
  if (secretsKeys.length > 0) return well(what, 'opens all secrets of upstreams that the database holds');
  if (secretsKey.length > 0) return well(what, 'is long enough');
  if (chain === undefined) return well(what, 'is kept beside the database on the sandbox');
  const detail = 'is not set: owners cannot add keys of their own to the calls of their APIs';
  return well(what, `${detail}; SECRETS_KEY=$(openssl rand -base64 32), the same for all instances`);
}

/** The keys that the database wants; none where it cannot be read, which is said of itself. */
async function keysInUse(databaseUrl: string): Promise<KeysInUse> {
  const none = { secretsKeys: [], responseKeys: [] };
  if (databaseUrl === MEMORY || missingFile(databaseUrl) !== undefined) return none;
  return readSchema(databaseUrl).catch(() => none);
}

/** Whether the address under which clients come fits how the server is reached. */
export function examineAddress(configuration: ServerConfiguration): readonly Examined[] {
  const { baseUrl, trustProxy, chain, host } = configuration;
  const isLive = [chain, ...(configuration.otherChains ?? [])].some((it) => it?.network === 'solana');
  if (baseUrl === undefined) return [examineNoAddress(configuration)];
  const { protocol, hostname } = new URL(baseUrl);
  const isLocal = LOOPBACK.test(hostname);
  const found: Examined[] = [];
  if (isLocal && isLive) {
    const detail = `${baseUrl} is this machine only, and payments are real`;
    found.push(risky('BASE_URL', detail, 'set BASE_URL to the address under which clients come'));
  } else if (!isLocal && protocol === 'http:') {
    const detail = `${baseUrl} is not https: whoever is between can read keys and take what was paid for`;
    found.push(risky('BASE_URL', detail, 'put a proxy that speaks https before the server, and https into BASE_URL'));
  }
  if (protocol === 'https:' && trustProxy === undefined) {
    const detail =
      'is not set, and a proxy must stand before this server, which speaks no https: all clients count as one for limits';
    found.push(risky('TRUST_PROXY', detail, 'TRUST_PROXY=1 for one proxy, or its addresses'));
  }
  if (protocol === 'http:' && !isLocal && trustProxy === undefined && LOOPBACK.test(host)) {
    found.push(risky('HOST', `${host} is reached from this machine only, and BASE_URL is elsewhere`, 'HOST=0.0.0.0'));
  }
  return found.length === 0 ? [well('BASE_URL', baseUrl)] : found;
}

function examineNoAddress(configuration: ServerConfiguration): Examined {
  const what = 'BASE_URL';
  const fix = 'BASE_URL=https://<the name of this service>';
  if (missingSiteName(configuration) !== undefined) {
    return broken(
      what,
      'is not set: the server does not start, since what wallets sign to come in names its host',
      fix,
    );
  }
  const detail =
    'is not set: links are to what the client says in its Host header, and wallets sign in at loopback hosts only';
  return configuration.chain === undefined ? well(what, detail) : risky(what, detail, fix);
}

function messageOf(error: unknown): string {
  if (error instanceof TollhouseError) return wholeError(error);
  return error instanceof Error ? (error.message.split('\n')[0] ?? error.name) : String(error);
}
