import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { blocksOf, isTypeScript, typeErrors } from '../helpers/processes/snippets.js';

const ROOT = join(__dirname, '../..');
const textOf = (page: string) => readFileSync(join(ROOT, page), 'utf8');
const README = textOf('README.md');
const GUIDES = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.md'))
  .map((path) => join('src', path));

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

  test('every TypeScript block type-checks against the source', () => {
    expect(snippets.length).toBeGreaterThan(0);
    expect(typeErrors(snippets)).toEqual([]);
  });
});

describe('guides beside the code', () => {
  test.each(GUIDES)('every TypeScript block of %s type-checks against the source', (page) => {
    const snippets = blocksOf(textOf(page)).filter(isTypeScript);
    expect(snippets.length === 0 ? [] : typeErrors(snippets)).toEqual([]);
  });

  test('some of them have such blocks', () => {
    expect(GUIDES.flatMap((page) => blocksOf(textOf(page)).filter(isTypeScript)).length).toBeGreaterThan(5);
  });
});

describe('the check of README blocks', () => {
  test('finds blocks, their language and their line', () => {
    const text = 'a\n```sh\nnpm ci\n```\nb\n```ts title="x"\nlet a;\nlet b;\n```\n';
    expect(blocksOf(text)).toEqual([
      { language: 'sh', code: 'npm ci\n', line: 3 },
      { language: 'ts', code: 'let a;\nlet b;\n', line: 7 },
    ]);
  });

  test('reports a wrong type, a wrong import and a wrong syntax with the line of the README', () => {
    const errors = typeErrors([
      { language: 'ts', code: "const fine = 1;\nconst wrong: number = 'text';\n", line: 10 },
      { language: 'ts', code: "import { noSuchName } from 'tollhouse';\nnoSuchName();\n", line: 20 },
      { language: 'ts', code: 'const = 1;\n', line: 30 },
      { language: 'ts', code: "import express from 'express';\nconst app = express();\napp.listen(0);\n", line: 40 },
    ]);
    expect(errors).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^line 11: .*not assignable/),
        expect.stringMatching(/^line 20: .*noSuchName/),
        expect.stringMatching(/^line 30: /),
      ]),
    );
    expect(errors.filter((error) => /^line (10|4\d):/.test(error))).toEqual([]);
  });
});
