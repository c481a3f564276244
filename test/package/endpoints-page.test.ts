import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type OperationDescription, scopeOf } from '../../src/http/framework/operation.js';

const SRC = join(__dirname, '../../src');
const HTTP = join(SRC, 'http');
const PAGE = join(SRC, 'http/endpoints.md');
const BEGIN = '## Every endpoint\n';
/** Of another port: src/server/operate.md tells of them. */
const ELSEWHERE = 'OPERATOR_PROBE_OPERATIONS';

function isOperations(value: unknown): value is readonly OperationDescription[] {
  return Array.isArray(value) && value.length > 0 && value.every((it: unknown) => Object.hasOwn(Object(it), 'method'));
}

/** All operations in lists that a file of `src/http` exports: these are what routes and /openapi.json are made of. */
function operations(): readonly OperationDescription[] {
  const files = readdirSync(HTTP, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const lists = files.flatMap((file) => Object.entries<unknown>(require(join(HTTP, file))));
  const found = lists.flatMap(([name, value]) => (name !== ELSEWHERE && isOperations(value) ? value : []));
  return [...new Map(found.map((it) => [it.id, it])).values()];
}

const placeOf = ({ path, method }: OperationDescription): string => `${path} ${method}`;

/** What the page says of them, from the code. */
function generated(): string {
  const rows = operations()
    .toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
    .map((it) => [`\`${it.method.toUpperCase()} ${it.path}\``, it.summary, scopeOf(it) ?? ''])
    .map((cells) => `| ${cells.join(' | ')} |`);
  const told = [
    'Written from the code by `WRITE_PAGES=1 npx jest test/package/endpoints-page`. Calls of projects, of any method, are beside them at',
    '`/v1/:slug` and below.',
    '',
  ];
  const head = ['| endpoint | is | scope of the caller |', '| --- | --- | --- |'];
  return [BEGIN, ...told, ...head, ...rows, ''].join('\n');
}

test('the page of endpoints lists every operation as the code has it; WRITE_PAGES=1 writes it', () => {
  expect(operations().map(({ path }) => path)).toEqual(
    expect.arrayContaining(['/openapi.json', '/settle', '/api/v1/keys/:id', '/token-gate/tiers']),
  );
  const page = readFileSync(PAGE, 'utf8');
  const [head = ''] = page.split(BEGIN);
  const wanted = head + generated();
  if (process.env['WRITE_PAGES'] === '1') writeFileSync(PAGE, wanted);
  else expect(page).toBe(wanted);
});
