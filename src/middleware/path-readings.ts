/** What can make a path mean more than it says: escapes, backslashes, empty segments and dot segments. */
const UNPLAIN = /[%\\]|\/\/|\/\.\.?(?:\/|$)/;
const ESCAPES = /(?:%[\da-f]{2})+/gi;

/**
 * Every path that a handler may take a request's for. Express compares paths as they were sent and decodes what its
 * parameters have caught; file servers decode first, take a decoded slash for a slash, and resolve empty and dot segments.
 * Nearly always there is one reading.
 * @param path - as the router sees it, without the query
 */
export function pathReadings(path: string): readonly string[] {
  if (!UNPLAIN.test(path)) return [path];
  const decoded = decodeSegments(path);
  const flat = decode(path).replaceAll('\\', '/');
  return [...new Set([decoded, flat, resolveSegments(decoded), resolveSegments(flat)])];
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
