/** What can make a path mean more than it says: escapes, backslashes, empty segments and dot segments. */
const UNPLAIN = /[%\\]|\/\/|\/\.\.?(?:\/|$)/;
const HOST = 'http://host';
const ESCAPES = /(?:%[\da-f]{2})+/gi;
const ONE_ESCAPE = 3;
const NOT_ASCII = 0x80;

/** A handler that hands a path on to another one, which decodes it again, is believed to do so this often. */
const MAX_DECODINGS = 4;
/** A longer path is read as it is written, or in no way: servers in front of us take none, and it costs the more the longer it is. */
const MAX_UNPLAIN = 8_192;
/** Honest paths have a handful. */
const MAX_READINGS = 64;
/** Of all readings together, in characters: a long path with many would cost what twenty requests do. */
const MAX_READ = 65_536;

/**
 * Every path that a handler may take a request's for. Express compares paths as they were sent and decodes what its
 * parameters have caught; file servers decode first, take a decoded slash for a slash, and resolve empty and dot segments;
 * `new URL()` lets a dot segment take an empty one away, and takes what stands behind two slashes for a host. A parameter
 * that goes to a file server, or a proxy in front of one, is decoded twice. Nearly always there is one reading.
 * @param path - as the router sees it, without the query
 * @param mount - the path that the router is mounted on, for handlers that read the whole; default: none
 * @returns undefined where there are too many to know them all, or the path is too long for more than one
 */
export function pathReadings(path: string, mount = ''): readonly string[] | undefined {
  if (path.length > MAX_UNPLAIN && UNPLAIN.test(path)) return undefined;
  const most = Math.min(MAX_READINGS, MAX_READ / path.length);
  const all = new Set<string>();
  let next: readonly string[] = [path];
  for (let decodings = 0; next.length > 0 && decodings < MAX_DECODINGS; decodings += 1) {
    const read = new Set<string>();
    for (const it of next) {
      for (const reading of readOnce(it, mount)) read.add(reading);
      if (read.size > most) return undefined;
    }
    next = [...read].filter((it) => !all.has(it) && UNPLAIN.test(it));
    for (const it of read) all.add(it);
    if (all.size > most) return undefined;
  }
  return [...all];
}

function readOnce(path: string, mount: string): readonly string[] {
  if (!UNPLAIN.test(path)) return [path];
  const decoded = decodeSegments(path);
  const flat = decode(path).replaceAll('\\', '/');
  const asUrls = [...new Set([path, decoded, flat])].flatMap((it) => [
    urlPath(it, HOST),
    urlPath(HOST + it),
    below(mount, it),
  ]);
  const read = new Set(asUrls.filter((it) => it !== undefined));
  return [decoded, flat, resolveSegments(decoded), resolveSegments(flat), ...[...read].map(decodeSegments)];
}

/** The path of an address; undefined where it is none. */
function urlPath(address: string, base?: string): string | undefined {
  try {
    return new URL(address, base).pathname;
  } catch {
    return undefined;
  }
}

/** What is left for a router when dot segments were resolved in the whole path. */
function below(mount: string, path: string): string | undefined {
  // Without one it is what was read already.
  const whole = mount === '' ? undefined : urlPath(HOST + mount + path);
  return whole?.toLowerCase().startsWith(`${mount.toLowerCase()}/`) ? whole.slice(mount.length) : undefined;
}

/** Escapes are resolved, but for those of slashes and backslashes, which stay part of their segment. */
export function decodeSegments(path: string): string {
  return decode(path, (text) => text.replaceAll('/', '%2F')).replaceAll('\\', '%5C');
}

/** What is no UTF-8 stays as it is. */
function decode(text: string, kept: (decoded: string) => string = (it) => it): string {
  return text.replace(ESCAPES, (escapes) => {
    const only = escapes.length === ONE_ESCAPE ? Number.parseInt(escapes.slice(1), 16) : NOT_ASCII;
    if (only < NOT_ASCII) return kept(String.fromCharCode(only));
    try {
      return kept(decodeURIComponent(escapes));
    } catch {
      return escapes;
    }
  });
}

function resolveSegments(path: string): string {
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  return `/${segments.join('/')}`;
}
