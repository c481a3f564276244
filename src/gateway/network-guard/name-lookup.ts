import { promises as dns } from 'node:dns';
import { type NameFilePaths, type NameFiles, openNameFiles } from './name-files.js';

/**
 * The addresses of a host name. Rejects when it has none.
 * @param owner - whose name it is; default: nobody's
 */
export type Lookup = (hostname: string, owner?: string) => Promise<readonly string[]>;

/** Options of {@link createNameLookup}. */
export interface NameLookupOptions {
  /** How many names are looked up at once, in all. Default 64. */
  readonly atOnce?: number;
  /** How long a name may take, in milliseconds. Default 4,000. */
  readonly timeoutMs?: number;
  /** Name servers, as `address` or `address:port`. Default: the system's. */
  readonly servers?: readonly string[];
  /** What the system knows of names by itself. Default: its own files. */
  readonly files?: NameFilePaths;
}

/**
 * A name that was not resolved: `unknown`: there is none of it; `silent`: no name server has told in time; `crowded`: it made
 * room for the names of others.
 */
export class NameNotResolved extends Error {
  override readonly name = 'NameNotResolved';
  /** As the system's resolver has it: whether asking again may help. */
  readonly code: 'ENOTFOUND' | 'EAI_AGAIN';

  constructor(
    hostname: string,
    readonly reason: 'unknown' | 'silent' | 'crowded',
    cause?: unknown,
  ) {
    super(`${hostname}: ${SAID[reason]}`, { cause });
    this.code = reason === 'unknown' ? 'ENOTFOUND' : 'EAI_AGAIN';
  }
}

const SAID = {
  unknown: 'there is no address of this name',
  silent: 'no name server has told its addresses in time',
  crowded: 'too many names are looked up at once',
};
const DEFAULT_AT_ONCE = 64;
/** Less than a connection may take: it is this that is told then. */
const DEFAULT_TIMEOUT_MS = 4_000;
/** A name server that is silent is asked again, and another one where there are several. */
const TRIES = 3;
const UNKNOWN: ReadonlySet<unknown> = new Set([dns.NOTFOUND, dns.NODATA, dns.BADNAME]);

interface UnderWay {
  readonly addresses: Promise<readonly string[]>;
  giveWay(): void;
}

/**
 * Makes a look-up for names that others choose, whose name servers may be theirs and never answer. The system's resolver would
 * hold a thread for each of them, of which a process has two: here the hosts file is read and name servers are asked over
 * sockets, and what takes too long is ended. Where too many are under way, the oldest of whoever has most gives way: a name
 * that is answered does not wait for one that is not. A name that is being looked up for the same owner is not asked for twice.
 */
export function createNameLookup(options: NameLookupOptions = {}): Lookup {
  const { atOnce = DEFAULT_AT_ONCE, timeoutMs = DEFAULT_TIMEOUT_MS, servers, files: paths } = options;
  const files = openNameFiles(paths);
  /** By owner and name, the oldest first. */
  const owners = new Map<string, Map<string, UnderWay>>();

  function begin(hostname: string): UnderWay {
    const ended = new AbortController();
    const endFor = (reason: 'silent' | 'crowded') => ended.abort(new NameNotResolved(hostname, reason));
    const timer = setTimeout(endFor, timeoutMs, 'silent');
    // One of its own: what is cancelled is this name alone, and the port that it asks from cannot be guessed.
    const resolver = new dns.Resolver({ timeout: Math.ceil(timeoutMs / (TRIES + 1)), tries: TRIES });
    if (servers !== undefined) resolver.setServers(servers);
    ended.signal.addEventListener('abort', () => resolver.cancel());
    const addresses = resolve(hostname, { files, resolver, signal: ended.signal });
    return { addresses: addresses.finally(() => clearTimeout(timer)), giveWay: () => endFor('crowded') };
  }

  function makeRoom(): void {
    const all = [...owners.values()];
    if (all.reduce((sum, { size }) => sum + size, 0) <= atOnce) return;
    const most = all.reduce((one, other) => (other.size > one.size ? other : one));
    for (const [hostname, oldest] of most) {
      most.delete(hostname);
      return oldest.giveWay();
    }
  }

  return async (hostname, owner = '') => {
    const own = owners.get(owner) ?? new Map<string, UnderWay>();
    const shared = own.get(hostname);
    if (shared !== undefined) return shared.addresses;
    const begun = begin(hostname);
    owners.set(owner, own.set(hostname, begun));
    makeRoom();
    try {
      return await begun.addresses;
    } finally {
      if (own.get(hostname) === begun) own.delete(hostname);
      if (own.size === 0 && owners.get(owner) === own) owners.delete(owner);
    }
  };
}

interface Asked {
  readonly files: NameFiles;
  readonly resolver: dns.Resolver;
  readonly signal: AbortSignal;
}

async function resolve(hostname: string, { files, resolver, signal }: Asked): Promise<readonly string[]> {
  const known = await files.hosts(hostname);
  if (known.length > 0) return known;
  for (const candidate of await files.candidates(hostname)) {
    signal.throwIfAborted();
    const found = await Promise.allSettled([resolver.resolve4(candidate), resolver.resolve6(candidate)]);
    const addresses = found.flatMap((it) => (it.status === 'fulfilled' ? it.value : []));
    if (addresses.length > 0) return addresses;
    signal.throwIfAborted();
    const reasons: unknown[] = found.map((it) => (it.status === 'rejected' ? it.reason : undefined));
    const failure = reasons.find((it) => !UNKNOWN.has(Reflect.get(Object(it), 'code')));
    if (failure !== undefined) throw new NameNotResolved(hostname, 'silent', failure);
  }
  throw new NameNotResolved(hostname, 'unknown');
}
