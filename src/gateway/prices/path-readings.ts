import { isDisguised, utf8TextOf, WIDE_ESCAPE } from '../../lib/http/disguised-path.js';

/** A longer path is read in no way: those who write one write it to be misread. */
const MAX_PATH = 2_048;
/** Honest paths have a handful. */
const MAX_READINGS = 64;

const ENCODED = /%[\da-f]{2}/i;
const ALL_ENCODED = new RegExp(ENCODED, 'gi');
const DOTS = /(?:^|\/)\.{1,2}(?:\/|$)/;
const SEPARATORS = /%(?:2f|5c)/i;

const decoded = (path: string): string =>
  path.replace(ALL_ENCODED, (it) => String.fromCharCode(Number.parseInt(it.slice(1), 16)));

/** What begins with two slashes is a host to `new URL()`, and its path what follows that. */
const withoutHost = (path: string): string => path.replace(/^[/\\]{2,}[^/\\]*/, '');

/** ASP.NET keeps sessions in one, and takes it out. */
const IN_PARENTHESES = /^\(.*\)$/s;

const BLANK = /[\0-\x20\s]/;
const TAIL = /[\0-\x20\s.]/;

/** Servers that trim drop the blanks around it, and Windows dots behind it. An expression for it takes the square of the length. */
function trimmed(segment: string): string {
  let begin = 0;
  let end = segment.length;
  while (end > 0 && TAIL.test(segment[end - 1] ?? '')) end -= 1;
  while (begin < end && BLANK.test(segment[begin] ?? '')) begin += 1;
  return segment.slice(begin, end);
}

const trimSegments = (path: string): string => path.split('/').map(trimmed).join('/');

/**
 * What servers do to a path before they look for what it names; each does some of it, in this order. Dot segments are not among
 * it: a path with one has no reading, as the gateway passes on none.
 */
const HABITS: readonly ((path: string) => string)[] = [
  withoutHost,
  (path) => path.replace(ALL_ENCODED, (it) => (SEPARATORS.test(it) ? it : decoded(it))),
  decoded,
  decoded,
  // `new URL()` and its like leave these out wherever they stand.
  (path) => path.replace(/[\t\n\r]/g, ''),
  (path) => path.replaceAll('\\', '/'),
  (path) => path.replace(/[?#\0].*$/s, ''),
  (path) => path.replace(/;[^/]*/g, ''),
  trimSegments,
  withoutHost,
  withoutSessions,
  (path) => path.replace(/\/{2,}/g, '/'),
  (path) => utf8TextOf(path).normalize('NFKC'),
  trimSegments,
];

function withoutSessions(path: string): string {
  return path
    .split('/')
    .filter((segment) => !IN_PARENTHESES.test(segment))
    .join('/');
}

/**
 * All that a path can mean to the server that gets it: as it is written, and as servers read it that decode, merge slashes, cut off
 * parameters or look for a host in it. One that says the same to all of them has a single reading. Whether capitals count is for
 * the comparison to say.
 * @param path - as it was sent, without its query; each byte is a character
 * @returns undefined where there are too many to know them all, one leads out of its place by dots, or it is written so that only
 * few servers understand it: bytes that are no UTF-8, `%u0061`, letters that are equal to slashes or dots
 */
export function callPathReadings(path: string): readonly string[] | undefined {
  if (path.length > MAX_PATH) return undefined;
  const plain = decoded(decoded(path));
  if (ENCODED.test(plain) || WIDE_ESCAPE.test(path) || WIDE_ESCAPE.test(plain) || isDisguised(plain)) return undefined;
  const readings = new Set([path]);
  for (const habit of HABITS) {
    for (const it of [...readings]) readings.add(habit(it));
    if (readings.size > MAX_READINGS) return undefined;
  }
  const all = [...readings];
  return all.some((it) => DOTS.test(it)) ? undefined : all;
}
