import { join } from 'node:path';
import ts from 'typescript';

const ROOT = join(__dirname, '../../..');

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

const SNIPPET = /([^/]+)-line-(\d+)\.ts$/;

function pathOf(page: string, line: number): string {
  return join(ROOT, `${page.replaceAll('/', '~')}-line-${line}.ts`);
}

/** A fenced block of a Markdown text: its language, its code, the line of the text at which the code begins. */
export interface Block {
  readonly language: string;
  readonly code: string;
  readonly line: number;
}

/** The fenced blocks of a Markdown text. */
export function blocksOf(markdown: string): Block[] {
  return [...markdown.matchAll(/^```(\w+)[^\n]*\n(.*?)^```\s*$/gms)].map((match) => ({
    language: match[1] ?? '',
    code: match[2] ?? '',
    line: markdown.slice(0, match.index).split('\n').length + 1,
  }));
}

/** Whether a block is TypeScript. */
export function isTypeScript({ language }: Block): boolean {
  return ['ts', 'typescript'].includes(language);
}

function compilerOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, { ...ts.sys, readDirectory: () => [] }, ROOT);
  return { ...options, noUnusedLocals: false, noUnusedParameters: false };
}

/**
 * Type-checks each snippet as a module of its own beside the source, all in one run, as that reads the source once. Answers the errors
 * with the pages and lines of their text.
 * @param pages - snippets by the name of their page
 */
export function typeErrors(pages: Readonly<Record<string, readonly Block[]>>): string[] {
  const options = compilerOptions();
  const modules = new Map(
    Object.entries(pages).flatMap(([page, snippets]) =>
      snippets.map(({ line, code }) => [pathOf(page, line), code.concat('export {};\n')] as const),
    ),
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
  const [, page = '', first] = SNIPPET.exec(file.fileName) ?? [];
  if (first === undefined) return `what snippets may use: ${message}`;
  const line = Number(first) + file.getLineAndCharacterOfPosition(start ?? 0).line;
  return `${page.replaceAll('~', '/')} line ${line}: ${message}`;
}
