import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { requirePaymentOptions } from '../../src/middleware/terms/payment-options.js';
import { EVENT_TYPES } from '../../src/storage/events/events.js';
import { blocksOf, isTypeScript, typeErrors } from '../helpers/processes/snippets.js';

const ROOT = join(__dirname, '../..');
const textOf = (page: string) => readFileSync(join(ROOT, page), 'utf8');
const README = textOf('README.md');
const PAGES = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.md'))
  .map((path) => join('src', path))
  .concat('README.md');

function linesOf(code: string): number {
  return code.trimEnd().split('\n').length;
}

describe('README', () => {
  const snippets = blocksOf(README).filter(isTypeScript);

  test('both commands stand in the first 40 lines', () => {
    const top = README.split('\n').slice(0, 40).join('\n');
    expect(top).toContain('npm ci && npm start');
    expect(top).toContain('npm ci && npm test');
  });

  test('the first code block is a paywall in at most 12 lines', () => {
    const [first] = snippets;
    expect(first?.code).toContain('requirePayment(');
    expect(linesOf(first?.code ?? '')).toBeLessThanOrEqual(12);
  });
});

describe('TypeScript blocks', () => {
  const wrong = 'a page';
  const pages = Object.fromEntries(PAGES.map((page) => [page, blocksOf(textOf(page)).filter(isTypeScript)]));
  const blocks = [
    { language: 'ts', code: "const fine = 1;\nconst wrong: number = 'text';\n", line: 10 },
    { language: 'ts', code: "import { noSuchName } from 'tollhouse';\nnoSuchName();\n", line: 20 },
    { language: 'ts', code: 'const = 1;\n', line: 30 },
    { language: 'ts', code: "import express from 'express';\nconst app = express();\napp.listen(0);\n", line: 40 },
  ];
  let errors: readonly string[];
  beforeAll(() => {
    errors = typeErrors({ ...pages, [wrong]: blocks });
  });

  test('of the README and of the guides beside the code type-check against the source', () => {
    expect(pages['README.md']?.length).toBeGreaterThan(0);
    expect(Object.values(pages).flat().length).toBeGreaterThan(10);
    expect(errors.filter((error) => !error.startsWith(wrong))).toEqual([]);
  });

  test('with a wrong type, a wrong import or a wrong syntax are reported with their line', () => {
    const reported = errors.filter((error) => error.startsWith(wrong)).map((error) => error.slice(wrong.length + 1));
    expect(reported).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^line 11: .*not assignable/),
        expect.stringMatching(/^line 20: .*noSuchName/),
        expect.stringMatching(/^line 30: /),
      ]),
    );
    expect(reported.filter((error) => /^line (10|4\d):/.test(error))).toEqual([]);
  });
});

test('the table of requirePayment names each of its options', () => {
  const [, section = ''] = textOf('src/middleware/gates.md').split('## `requirePayment(options)`');
  const [table = ''] = section.trimStart().split('\n\n');
  const named = table.split('\n').flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)]);
  expect(named.map(([, name]) => name).sort()).toEqual(Object.keys(requirePaymentOptions.shape).sort());
});

test('the guide of the gateway says what each type of event holds', () => {
  const [, table = ''] = textOf('src/gateway/guide.md').split('## What events hold');
  const named = table.split('\n').flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([\w.]+)`/g)]);
  expect(named.map(([, name]) => name).sort()).toEqual([...EVENT_TYPES].sort());
});

describe('the reading of a page', () => {
  test('finds blocks, their language and their line', () => {
    const text = 'a\n```sh\nnpm ci\n```\nb\n```ts title="x"\nlet a;\nlet b;\n```\n';
    expect(blocksOf(text)).toEqual([
      { language: 'sh', code: 'npm ci\n', line: 3 },
      { language: 'ts', code: 'let a;\nlet b;\n', line: 7 },
    ]);
  });
});
