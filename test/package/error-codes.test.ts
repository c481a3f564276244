import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERRORS } from '../../src/errors/errors.js';

const ROOT = join(__dirname, '..', '..');
const CODES = Object.keys(ERRORS);

/** The text of all TypeScript files below a folder but for some. */
function textBelow(folder: string, ...without: readonly string[]): string {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !without.includes(file))
    .map((file) => readFileSync(join(ROOT, folder, file), 'utf8'))
    .join('\n');
}

function unquoted(codes: readonly string[], text: string): string[] {
  return codes.filter((code) => !text.includes(`'${code}'`) && !text.includes(`"${code}"`));
}

test('every error code is the code of some answer or exception', () => {
  expect(unquoted(CODES, textBelow('src', 'errors/errors.ts', 'http/openapi/openapi-gated.ts'))).toEqual([]);
});

test('every error code is expected by some test', () => {
  expect(unquoted(CODES, textBelow('test', 'package/error-codes.test.ts'))).toEqual([]);
});

test('a code that nobody names is found', () => {
  expect(unquoted([...CODES, 'no_such_code'], textBelow('test', 'package/error-codes.test.ts'))).toEqual([
    'no_such_code',
  ]);
});
