import { readFileSync } from 'node:fs';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { demoWallet } from '../sandbox/demo-wallets.js';
import type { KeypairInput } from '../solana/keypair.js';
import { UsageError } from './command.js';

/** `parseArgs`, with its complaints as {@link UsageError}. */
export function readArguments<T extends NonNullable<ParseArgsConfig['options']>>(args: readonly string[], options: T) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** The wallet that `--keypair <file>` or `--demo` names; undefined when neither is given. */
export function readWallet(path: string | undefined, demo: boolean | undefined): KeypairInput | undefined {
  if (demo) return demoWallet(0);
  if (path === undefined) return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new UsageError(`--keypair: the file "${path}" cannot be read`);
  }
}
