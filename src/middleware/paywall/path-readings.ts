/** What can make a path mean more than it says: escapes, backslashes, empty segments and dot segments. */
const UNPLAIN = /[%\\]|\/\/|\/\.\.?(?:\/|$)/;
const HOST = 'http://host';
const ESCAPES = /(?:%[\da-f]{2})+/gi;

/** A handler that hands a path on to another one, which decodes it again, is believed to do so this often. */
const MAX_DECODINGS = 4;

/**
 * Every path that a handler may take a request's for. Express compares paths as they were sent and decodes what its
 * parameters have caught; file servers decode first, take a decoded slash for a slash, and resolve empty and dot segments;
 * `new URL()` lets a dot segment take an empty one away, and takes what stands behind two slashes for a host. A parameter
 * that goes to a file server, or a proxy in front of one, is decoded twice. Nearly always there is one reading.
 * @param path - as the router sees it, without the query
 * @param mount - the path that the router is mounted on, for handlers that read the whole; default: none
 */
export function pathReadings(path: string, mount = ''): readonly string[] {
  const all = new Set<string>();
  let next = [path];
  for (let decodings = 0; next.length > 0 && decodings < MAX_DECODINGS; decodings += 1) {
    const read = next.flatMap((it) => readOnce(it, mount));
    next = [...new Set(read)].filter((it) => !all.has(it) && UNPLAIN.test(it));
    for (const it of read) all.add(it);
  }
  return [...all];
}

function readOnce(path: string, mount: string): readonly string[] {
  if (!UNPLAIN.test(path)) return [path];
  const decoded = decodeSegments(path);
  const flat = decode(path).replaceAll('\\', '/');
  const asUrls = [path, decoded, flat].flatMap((it) => [urlPath(it, HOST), urlPath(HOST + it), below(mount, it)]);
  const read = asUrls.filter((it) => it !== undefined).map(decodeSegments);
  return [...new Set([decoded, flat, resolveSegments(decoded), resolveSegments(flat), ...read])];
}

/** The path of an address; undefined where it is none. */
function urlPath(address: string, base?: string): string | undefined {
  return URL.canParse(address, base) ? new URL(address, base).pathname : undefined;
}

/** What is left for a router when dot segments were resolved in the whole path. */
function below(mount: string, path: string): string | undefined {
  const whole = urlPath(HOST + mount + path);
  return whole?.toLowerCase().startsWith(`${mount.toLowerCase()}/`) ? whole.slice(mount.length) : undefined;
}

/** Escapes are resolved, but for those of slashes and backslashes, which stay part of their segment. */
export function decodeSegments(path: string): string {
  return path
    .split('/')
    .map((segment) => decode(segment).replaceAll('/', '%2F').replaceAll('\\', '%5C'))
    .join('/');
}

/** What is no UTF-8 stays as it is. */
function decode(text: string): string {
  return text.replace(ESCAPES, (escapes) => {
    try {
      return decodeURIComponent(escapes);
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
