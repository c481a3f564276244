import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';

/** Where the system keeps what it knows of names. */
export interface NameFilePaths {
  /** Default `/etc/hosts`. */
  readonly hosts?: string;
  /** Default `/etc/resolv.conf`. */
  readonly resolver?: string;
}

/** What the system's files say of names. Each is read when it is asked for the first time, and when it has changed. */
export interface NameFiles {
  /** The addresses that a name has in the hosts file; none for one that is not there. */
  hosts(name: string): Promise<readonly string[]>;
  /** What name servers are asked of instead of a name, in this order: it, and it below the search domains. */
  candidates(name: string): Promise<readonly string[]>;
}

type Lines = readonly (readonly string[])[];

interface Search {
  readonly domains: readonly string[];
  /** A name with fewer dots is looked for below the domains before it is asked for as it is. */
  readonly ndots: number;
}

const LOOPBACK = ['127.0.0.1', '::1'];

/** Opens the files. One that cannot be read says nothing. */
export function openNameFiles({ hosts, resolver }: NameFilePaths = {}): NameFiles {
  const readHosts = keptFile(hosts ?? '/etc/hosts', hostsOf);
  const readSearch = keptFile(resolver ?? '/etc/resolv.conf', searchOf);
  return {
    async hosts(name) {
      return (await readHosts()).get(name) ?? (name === 'localhost' ? LOOPBACK : []);
    },
    async candidates(name) {
      if (name.endsWith('.')) return [name];
      const { domains, ndots } = await readSearch();
      const below = domains.map((domain) => `${name}.${domain}`);
      return name.split('.').length - 1 >= ndots ? [name, ...below] : [...below, name];
    },
  };
}

function keptFile<Content>(path: string, read: (lines: Lines) => Content): () => Promise<Content> {
  let kept: { readonly mark: string; readonly content: Content } | undefined;
  return async () => {
    const mark = await markOf(path);
    if (kept?.mark === mark) return kept.content;
    const content = read(linesOf(await readFile(path, 'utf8').catch(() => '')));
    kept = { mark, content };
    return content;
  };
}

function markOf(path: string): Promise<string> {
  return stat(path).then(
    ({ ino, size, mtimeMs }) => `${ino} ${size} ${mtimeMs}`,
    () => '',
  );
}

/** The words of each line, without comments. */
function linesOf(text: string): Lines {
  return text.split('\n').map((line) =>
    line
      .replace(/[#;].*/, '')
      .split(/\s+/)
      .filter(Boolean),
  );
}

function hostsOf(lines: Lines): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const [address = '', ...names] of lines) {
    if (isIP(address) === 0) continue;
    for (const name of names.map((it) => it.toLowerCase())) {
      const addresses = found.get(name);
      if (addresses === undefined) found.set(name, [address]);
      else addresses.push(address);
    }
  }
  return found;
}

function searchOf(lines: Lines): Search {
  const valuesOf = (...keys: string[]) => lines.findLast(([key = '']) => keys.includes(key))?.slice(1) ?? [];
  const domains = valuesOf('search', 'domain').map((it) => it.replace(/\.$/, ''));
  const ndots = lines
    .filter(([key]) => key === 'options')
    .flat()
    .findLast((it) => it.startsWith('ndots:'));
  return { domains: domains.filter(Boolean), ndots: Number(ndots?.slice('ndots:'.length) ?? 1) };
}
