import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { mergePatch } from '../../../src/gateway/projects/merge-patch.js';
import { hopByHop, pairsOf } from '../../../src/gateway/proxy/header-fields.js';
import { publicLocation, upstreamTarget } from '../../../src/gateway/proxy/upstream-target.js';
import { toCsv } from '../../../src/http/framework/csv.js';
import {
  clientOfAddress,
  isAllowedAddress,
  readAllowedAddress,
} from '../../../src/identity/service-keys/allowed-addresses.js';
import { parseSiwsMessage } from '../../../src/identity/sign-in/siws-message.js';
import { privateCacheControl } from '../../../src/middleware/gate/cache-control.js';
import { withExposed } from '../../../src/middleware/gate/respond.js';
import { escapeHtml } from '../../../src/pages/layout/escape-html.js';
import { CODECS } from '../../../src/protocol/codecs/codecs.js';
import { parseDecimal, readPrice } from '../../../src/protocol/money/money.js';
import { KNOWN_TOKENS } from '../../../src/protocol/networks/tokens.js';
import { jsonFault } from '../../../src/protocol/wire/json.js';
import { readServicePayment } from '../../../src/protocol/wire/service-payment.js';
import { timesLonger } from '../../helpers/times-longer.js';

const ROOT = join(__dirname, '../../../src');
/** As long as a header may be; a sixteenth of it is compared with it. */
const LONG = 8_000;
const SHORT = LONG / 16;
/** A body is longer than a header: with so many keys both objects are tables of V8's, whose making costs the same a key. */
const BODY = 4;
/** Sixteen times as much input may take sixteen times as long; were it the square, it would be 256 times. */
const MOST = 80;
/** What takes less than this with the long input cannot be the square: that would be over thirty million steps. */
const QUICK_MS = 0.5;

const PUMPS = [
  ...[
    'a',
    'A',
    '0',
    '9',
    'é',
    ' ',
    '\t',
    '\n',
    '\0',
    '-',
    '_',
    '.',
    '/',
    '\\',
    '%',
    '=',
    '+',
    ':',
    ';',
    ',',
    '[',
    '"',
    "'",
    '@',
    '~',
  ],
  ...['%2e', '%25', '../', 'a/', 'a.', 'a ', '0.', 'a-', 'aA0', ':a', ' a', '",', '{}', '//', '::', 'e0'],
];
const ENDS = ['', '!', '\0', '\n\n', 'a', '/'];

/** What may be the beginning of a regular expression: reading a file that has none takes as long as trying one out. */
const BEGINNING = /(?:^|[(,=:[!&|?{};>]|return)\s*\/(?![*/])/m;

/** Every regular expression of the source, by where it stands. */
function expressions(): (readonly [string, RegExp])[] {
  const files = readdirSync(ROOT, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  return files.flatMap((path) => {
    const text = readFileSync(join(ROOT, path), 'utf8');
    if (!BEGINNING.test(text)) return [];
    const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
    return literalsIn(source).map((text) => [`${relative('.', path)} ${text}`, expressionOf(text)] as const);
  });
}

function literalsIn(node: ts.Node): string[] {
  if (ts.isRegularExpressionLiteral(node)) return [node.text];
  const below: string[] = [];
  ts.forEachChild(node, (child) => void below.push(...literalsIn(child)));
  return below;
}

function expressionOf(text: string): RegExp {
  const end = text.lastIndexOf('/');
  return new RegExp(text.slice(1, end), text.slice(end + 1));
}

/** The literal characters that an expression begins with: what is behind them is reached only past them. */
function headOf({ source }: RegExp): string {
  const [, head = ''] = /^\^?((?:\\[^\w\s]|[\w :@"=-](?![?*+{]))*)/.exec(source) ?? [];
  return head.replaceAll('\\', '');
}

function timeOf(work: () => unknown): number {
  const begun = performance.now();
  work();
  return performance.now() - begun;
}

/** How many times longer the long input takes than the short one; 1 where it is over at once. */
function growth(work: (input: string) => unknown, inputOf: (length: number) => string): number {
  const [short, long] = [inputOf(SHORT), inputOf(LONG)];
  work(short);
  if (timeOf(() => work(long)) < QUICK_MS) return 1;
  return timesLonger(
    () => work(long),
    () => work(short),
    (times) => times < MOST,
  );
}

const pumped = (head: string, pump: string, end: string) => (length: number) =>
  head + pump.repeat(Math.ceil(length / pump.length)) + end;

/** The inputs, behind a head, that take more and more time as they get longer. */
function tooLong(work: (input: string) => unknown, head: string): (readonly [pump: string, end: string])[] {
  const inputs = PUMPS.flatMap((pump) => ENDS.map((end) => [pump, end] as const));
  return inputs.filter(([pump, end]) => growth(work, pumped(head, pump, end)) >= MOST);
}

const EXPRESSIONS = expressions();

test('a measure that sees what it looks for', () => {
  expect(growth((input) => /\/+$/.test(input), pumped('', '/', '!'))).toBeGreaterThan(MOST);
  expect(growth((input) => /^[a-z]+$/.test(input), pumped('', 'a', '!'))).toBeLessThan(MOST);
});

test('there are expressions to look at', () => {
  expect(EXPRESSIONS.length).toBeGreaterThan(100);
});

test.each(EXPRESSIONS)('%s', (_where, expression) => {
  expect(tooLong((input) => input.replace(expression, ''), headOf(expression))).toEqual([]);
});

const TOKENS = KNOWN_TOKENS['solana-devnet'];
const BASE = 'https://upstream.example/base';
const TARGET = { origin: 'https://upstream.example', path: '/base/a' };

const READERS: Readonly<Record<string, (input: string) => unknown>> = {
  ...Object.fromEntries(CODECS.map(({ name, read }) => [`payment of ${name}`, read])),
  'X-Service-Payment': readServicePayment,
  price: (input) => readPrice(input, TOKENS),
  amount: (input) => parseDecimal(input, 6),
  'way to an upstream': (input) => upstreamTarget(BASE, `/${input}`),
  'place of an upstream': (input) => publicLocation(input, BASE, TARGET, '/v1/a'),
  'sign-in': parseSiwsMessage,
  'allowed address': readAllowedAddress,
  'network of an address': (input) => readAllowedAddress(`${input}/64`),
  'client of an address': clientOfAddress,
  'client among those allowed': (input) => isAllowedAddress(input, ['10.0.0.0/8', '2001:db8::/32']),
  Connection: (input) => hopByHop(['Connection', input])('x') || [...pairsOf([input, input])],
  'Cache-Control': privateCacheControl,
  'Access-Control-Expose-Headers': (input) => withExposed(input, ['ETag']),
  'text of a page': escapeHtml,
  'cell of a table': (input) => toCsv([[input]]),
};

test.each(Object.entries(READERS))('reading: %s', (_name, read) => {
  expect(tooLong(read, '')).toEqual([]);
});

test.each<[string, (length: number) => string]>([
  ['deep', (length) => '['.repeat(length / 2) + ']'.repeat(length / 2)],
  ['wide', (length) => `[${'0,'.repeat(length / 2)}0]`],
  ['of many keys', (length) => `{${Array.from({ length: length / 8 }, (_, n) => `"k${n}":{}`).join()}}`],
])('JSON that is %s', (_what, inputOf) => {
  const check = (input: string) => jsonFault(JSON.parse(input));
  const merge = (input: string) => (check(input) === undefined ? mergePatch({}, JSON.parse(input)) : undefined);
  const bodyOf = (length: number) => inputOf(length * BODY);
  expect([growth(check, bodyOf) < MOST, growth(merge, bodyOf) < MOST]).toEqual([true, true]);
});
