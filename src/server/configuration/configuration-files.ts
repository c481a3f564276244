import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { z } from 'zod';
import { readTiers, type TiersOptions } from '../../access/tiers.js';
import { TollhouseError } from '../../errors/errors.js';
import { tokensOption } from '../../facilitator/facilitator-options.js';
import { isAddress } from '../../protocol/address.js';
import type { Token } from '../../protocol/types.js';
import { createFeePayer } from '../../solana/fee-payer.js';
import { readSecretFile, unreadableFile } from './secret-file.js';

type Context = z.core.$RefinementCtx;

/** A value that turned out wrong: what it must be goes into the list of faults. */
function fault(context: Context, message: string): typeof z.NEVER {
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
}

/** Path of a key file, base58 text or JSON array → the text of the key. What it is never appears in a message. */
export const keyText = z.string().transform((value, context) => {
  if (isAddress(value))
    return fault(context, 'a secret key, and this is an address: the path of the key file, for instance');
  const looksLikeKey = value.startsWith('[') || /^[1-9A-HJ-NP-Za-km-z]{80,90}$/.test(value);
  const text = looksLikeKey ? value : readSecretFile(value);
  if (text === undefined) {
    const forms = 'the path of a readable key file, base58 text or a JSON array';
    return fault(context, [forms, ...unreadableFile(value)].join(', and '));
  }
  if (text.trim() === '') return fault(context, `a Solana key of 64 bytes, and the file "${value}" is empty`);
  try {
    createFeePayer(text, 'FACILITATOR_KEYPAIR');
    return text;
  } catch {
    const forms = 'a Solana key of 64 bytes: the path of its file, its base58 text or its JSON array';
    return fault(context, looksLikeKey ? forms : `${forms}, and the file "${value}" holds none`);
  }
});

/** Several of them, separated by commas; those of a JSON array separate nothing. */
export const keyTexts = z
  .string()
  .transform((value) => (value.startsWith('[') ? [value] : value.split(',').map((it) => it.trim())))
  .pipe(z.array(keyText));

/** Path of a JSON file → its content. */
export const jsonFile = z.string().transform((path, context): unknown => {
  const text = readText(path);
  if (text === undefined) return fault(context, `the path of a readable JSON file, and "${path}" cannot be read`);
  try {
    return JSON.parse(text);
  } catch (error) {
    return fault(context, `the path of a JSON file, and "${path}" is not JSON (${messageOf(error)})`);
  }
});

/** Path of a file with a list of tokens, `[{symbol, mint, decimals, program}]` → the tokens. */
export const tokensFile = jsonFile.transform((content, context): readonly Token[] => {
  const result = tokensOption.safeParse(content);
  if (result.success && result.data !== undefined) return result.data;
  const faults = result.error?.issues.map(({ path, message }) => `${path.join('.') || 'the file'}: ${message}`) ?? [];
  return fault(context, `a list of {symbol, mint, decimals, program}; ${faults.join('; ')}`);
});

/** What is wrong with tiers that were read from a file; undefined when nothing is. */
export function tiersFault(content: unknown, tokens: readonly Token[]): string | undefined {
  try {
    readTiers('TIERS_FILE', content as TiersOptions, tokens);
    return undefined;
  } catch (error) {
    if (error instanceof TollhouseError) return error.message;
    throw error;
  }
}

const SUBNET_NAMES = ['loopback', 'linklocal', 'uniquelocal'];

/** Whether a text is what Express takes for `trust proxy`: addresses and networks, separated by commas. */
export function isAddressList(text: string): boolean {
  return text.split(',').every((part) => {
    const [address = '', prefix, ...rest] = part.trim().split('/');
    if (SUBNET_NAMES.includes(address) && prefix === undefined) return true;
    const bits = isIP(address) === 4 ? 32 : 128;
    const inRange = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
    return isIP(address) !== 0 && inRange && rest.length === 0;
  });
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
