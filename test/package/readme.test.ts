import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const ROOT = join(__dirname, '../..');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');

/** What a snippet may use without declaring it: what stands in an API author's own file already. */
const CONTEXT = `
import type { Express, RequestHandler } from 'express';
import type { createFacilitator } from 'tollhouse';
declare global {
  const app: Express;
  const handler: RequestHandler;
  const facilitator: ReturnType<typeof createFacilitator>;
  const payTo: string;
}
`;

/** A fenced block of a Markdown text: its language, its code, the line of the text at which the code begins. */
interface Block {
  readonly language: string;
  readonly code: string;
  readonly line: number;
}

function blocksOf(markdown: string): Block[] {
  return [...markdown.matchAll(/^```(\w+)[^\n]*\n(.*?)^```\s*$/gms)].map((match) => ({
    language: match[1] ?? '',
    code: match[2] ?? '',
    line: markdown.slice(0, match.index).split('\n').length + 1,
  }));
}

function isTypeScript({ language }: Block): boolean {
  return ['ts', 'typescript'].includes(language);
}

function linesOf(code: string): number {
  return code.trimEnd().split('\n').length;
}

function compilerOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, { ...ts.sys, readDirectory: () => [] }, ROOT);
  return { ...options, noUnusedLocals: false, noUnusedParameters: false };
}

/** Type-checks each snippet as a module of its own beside the source; answers the errors with lines of the README. */
function typeErrors(snippets: readonly Block[]): string[] {
  const options = compilerOptions();
  const modules = new Map(
    snippets.map(({ line, code }) => [join(ROOT, `readme-line-${line}.ts`), code.concat('export {};\n')]),
  );
  const texts = new Map([...modules, [join(ROOT, 'readme-context.ts'), CONTEXT]]);
  const program = ts.createProgram([...texts.keys()], options, overlay(ts.createCompilerHost(options), texts));
  return [...texts.keys()].flatMap((path) => {
    const file = program.getSourceFile(path);
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].map(describeError);
  });
}

/** The host with some files that are texts in memory. */
function overlay(host: ts.CompilerHost, texts: ReadonlyMap<string, string>): ts.CompilerHost {
  return {
    ...host,
    fileExists: (path) => texts.has(path) || host.fileExists(path),
    readFile: (path) => texts.get(path) ?? host.readFile(path),
    getSourceFile: (path, target, ...rest) => {
      const text = texts.get(path);
      return text === undefined ? host.getSourceFile(path, target, ...rest) : ts.createSourceFile(path, text, target);
    },
  };
}

function describeError({ file, start, messageText }: ts.Diagnostic): string {
  const message = ts.flattenDiagnosticMessageText(messageText, ' ');
  if (file === undefined) return message;
  const first = /readme-line-(\d+)\.ts$/.exec(file.fileName)?.[1];
  if (first === undefined) return `what snippets may use: ${message}`;
  return `line ${Number(first) + file.getLineAndCharacterOfPosition(start ?? 0).line}: ${message}`;
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
