import { isDisguised, utf8TextOf, WIDE_ESCAPE } from '../../lib/http/disguised-path.js';

/** A longer path is read in no way: those who write one write it to be misread. */
const MAX_PATH = 2_048;
/** Honest paths have a handful. */
const MAX_READINGS = 64;
/** Of all readings together, in characters: some become eighteen (U+FDFA), and all are compared. */
const MAX_READ = 16 * MAX_PATH;

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

/** What any of them takes for one: Python has NEL, old .NET the zero-width space; JavaScript neither. */
const BLANK = /[\0-\x20\x7f-\x9f\s\p{DI}]/u;
const TAIL = /[\0-\x20\x7f-\x9f\s\p{DI}.]/u;

/** Servers that trim drop the blanks around it, and Windows dots behind it. An expression for it takes the square of the length. */
function trimmed(segment: string): string {
  let begin = 0;
  let end = segment.length;
  while (end > 0 && TAIL.test(segment[end - 1] ?? '')) end -= 1;
  while (begin < end && BLANK.test(segment[begin] ?? '')) begin += 1;
  return segment.slice(begin, end);
}

const trimSegments = (path: string): string => path.split('/').map(trimmed).join('/');

type Habit = (path: string) => string;

/** How servers come from the bytes of a path to its text; each does some of it, in this order. */
const DECODINGS: readonly Habit[] = [
  withoutHost,
  (path) => path.replace(ALL_ENCODED, (it) => (SEPARATORS.test(it) ? it : decoded(it))),
  decoded,
  decoded,
];

/**
 * What servers do to the text before they look for what it names. Dot segments are not among it: a path with one has no reading, as
 * the gateway passes on none.
 */
const HABITS: readonly Habit[] = [
  // `new URL()` and its like leave these out wherever they stand.
  (path) => path.replace(/[\t\n\r]/g, ''),
  (path) => path.replaceAll('\\', '/'),
  (path) => path.replace(/[?#\0].*$/s, ''),
  (path) => path.replace(/;[^/]*/g, ''),
  trimSegments,
  withoutHost,
  withoutSessions,
  (path) => path.replace(/\/{2,}/g, '/'),
  (path) => path.normalize('NFKC'),
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
  const texts = readBy(DECODINGS, [path])?.map(utf8TextOf);
  const all = texts && readBy(HABITS, texts);
  return all?.some((it) => DOTS.test(it)) ? undefined : all;
}

function readBy(habits: readonly Habit[], paths: readonly string[]): readonly string[] | undefined {
  const readings = new Set(paths);
  for (const habit of habits) {
    for (const it of [...readings]) readings.add(habit(it));
    const length = [...readings].reduce((sum, it) => sum + it.length, 0);
    if (readings.size > MAX_READINGS || length > MAX_READ) return undefined;
  }
  return [...readings];
}
