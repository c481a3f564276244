import { existsSync } from 'node:fs';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { didYouMean } from '../../lib/did-you-mean.js';
import { demoWallet } from '../../sandbox/tokens/demo-wallets.js';
import { readSecretFile } from '../../server/configuration/secret-file.js';
import { type KeypairInput, readKeypair } from '../../solana/keypair.js';
import { UsageError } from '../command.js';

/** Options of every command that asks a server. */
export const SERVER_FLAGS = { server: { type: 'string' }, json: { type: 'boolean' } } as const;

/** `parseArgs`, with its complaints as {@link UsageError}; an option of one value that is given twice is one of them. */
export function readArguments<T extends NonNullable<ParseArgsConfig['options']>>(args: readonly string[], options: T) {
  const parsed = parsedOf(args, options);
  const given = new Set<string>();
  for (const token of parsed.tokens) {
    if (token.kind !== 'option' || token.value === undefined || options[token.name]?.multiple) continue;
    if (given.has(token.name)) throw new UsageError(`--${token.name} was given twice, and takes one value`);
    given.add(token.name);
  }
  return parsed;
}

function parsedOf<T extends NonNullable<ParseArgsConfig['options']>>(args: readonly string[], options: T) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options, tokens: true });
  } catch (error) {
    throw new UsageError(complaintOf(error, Object.keys(options)));
  }
}

/** What `parseArgs` says, in one sentence, with the option that was meant. */
function complaintOf(error: unknown, known: readonly string[]): string {
  const text = error instanceof Error ? error.message : String(error);
  const [, dashes = '', unknown] = /Unknown option '(--?)([^']+)'/.exec(text) ?? [];
  if (unknown === undefined) return text;
  const meant = didYouMean(unknown, known);
  const hint = meant === undefined ? '--help tells what there is' : `did you mean "--${meant}"?`;
  return `unknown option "${dashes}${unknown}"; ${hint}`;
}

/**
 * The wallet that `--keypair <file>` or `--demo` names; undefined when neither is given.
 * @param demoIndex - which demo wallet; default: the one that pays
 */
export function readWallet(
  path: string | undefined,
  demo: boolean | undefined,
  demoIndex = 0,
): KeypairInput | undefined {
  if (demo && path !== undefined) throw new UsageError('--keypair or --demo, not both');
  if (demo) return demoWallet(demoIndex);
  if (path === undefined) return undefined;
  const text = readSecretFile(path);
  if (text === undefined) throw new UsageError(`--keypair: ${shownFile(path)} cannot be read${hintFor(path)}`);
  const holds = text.trim() === '' ? 'is empty' : 'holds no key';
  if (!isKey(text)) throw new UsageError(`--keypair: ${shownFile(path)} ${holds}: ${WANTED}`);
  return text;
}

const WANTED = 'it must hold what "npx tollhouse keygen" or solana-keygen writes, the secret key and not its address';

function isKey(text: string): boolean {
  try {
    readKeypair(text, '--keypair');
    return true;
  } catch {
    return false;
  }
}

function hintFor(path: string): string {
  if (isKeyItself(path)) return '';
  return existsSync(path)
    ? '; it must be a file that you may read'
    : ': there is none; "npx tollhouse keygen" makes one';
}

function isKeyItself(path: string): boolean {
  return /^\s*\[|^[1-9A-HJ-NP-Za-km-z]{64,}\s*$/.test(path);
}

/** What was given as the name of a file may be the key itself, which is shown to nobody. */
function shownFile(path: string): string {
  return isKeyItself(path)
    ? 'it takes the name of a key file, and what was given is no file: it'
    : `the file "${path}"`;
}

/** The one argument that a command takes. */
export function onlyOne(positionals: readonly string[], usage: string): string {
  const [name, ...rest] = positionals;
  if (name === undefined || name === '' || rest.length > 0) throw new UsageError(`usage: ${usage}`);
  return name;
}

/** Complains of arguments where there are to be none. */
export function none(positionals: readonly string[], usage: string): void {
  if (positionals.length > 0) throw new UsageError(`"${positionals.join(' ')}" is not understood; usage: ${usage}`);
}
