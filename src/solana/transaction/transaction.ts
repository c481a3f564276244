import { hash } from 'node:crypto';
import { addressAt } from '../../protocol/address.js';
import type { Reason } from '../../protocol/reasons.js';
import { ByteReader, ByteReaderError } from './byte-reader.js';
import { type Instruction, type PlainInstruction, readInstruction } from './instructions.js';

const SIGNATURE_BYTES = 64;
const KEY_BYTES = 32;
/** Largest transaction of the legacy and version 0 forms: one network packet. */
export const MAX_PACKET_BYTES = 1232;
const VERSION_FLAG = 0x80;

/** A transaction taken apart; the byte fields are views of the input. */
export interface DecodedTransaction {
  readonly bytes: Uint8Array;
  readonly version: 'legacy' | 0;
  readonly signatures: readonly Uint8Array[];
  /** Where the first signature begins in `bytes`. */
  readonly signaturesOffset: number;
  /** The bytes that are signed. */
  readonly message: Uint8Array;
  /** SHA-256 of `message`, hexadecimal: names the payment whatever the signature slots hold. */
  readonly messageHash: string;
  /** Accounts named in the message, signers first. */
  readonly accounts: readonly string[];
  readonly requiredSignatures: number;
  /** Recent blockhash, base58. */
  readonly blockhash: string;
  readonly instructions: readonly Instruction[];
  /** What each of the instructions does. */
  readonly plain: readonly PlainInstruction[];
  /** Address lookup tables in use. */
  readonly lookupTables: number;
}

/** A transaction, or why the bytes are none that can be judged. */
export type DecodeResult =
  | { readonly ok: true; readonly transaction: DecodedTransaction }
  | { readonly ok: false; readonly reason: Reason; readonly detail: string };

/**
 * Takes a legacy or version 0 transaction apart. Strict where the runtime is strict: canonical lengths, indexes in
 * range, no byte left over. A version 1 message gets a refusal of its own. Never throws.
 * @param loaded - accounts that came out of lookup tables, where they are known; instructions name them too then
 */
export function decodeTransaction(bytes: Uint8Array, loaded: readonly string[] = []): DecodeResult {
  // Version 1 puts its version byte where the older forms count their signatures.
  if (bytes[0] !== undefined && bytes[0] > VERSION_FLAG) return unsupportedVersion(bytes[0] & 0x7f);
  if (bytes.length > MAX_PACKET_BYTES) {
    return undecodable(`it has ${bytes.length} bytes, the limit is ${MAX_PACKET_BYTES}`);
  }
  try {
    return decode(bytes, loaded);
  } catch (error) {
    if (error instanceof ByteReaderError) return undecodable(error.message);
    throw error;
  }
}

function decode(bytes: Uint8Array, loaded: readonly string[]): DecodeResult {
  const reader = new ByteReader(bytes);
  const signatureCount = reader.compactU16('signatures');
  const signaturesOffset = reader.offset;
  const signatures = reader.list(signatureCount, () => reader.take(SIGNATURE_BYTES, 'signatures'));
  const message = bytes.subarray(reader.offset);

  const prefix = reader.peek('message');
  const versioned = (prefix & VERSION_FLAG) !== 0;
  if (versioned && prefix !== VERSION_FLAG) return unsupportedVersion(prefix & 0x7f);
  if (versioned) reader.byte('version');

  const header = {
    required: reader.byte('header'),
    readonlySigned: reader.byte('header'),
    readonlyUnsigned: reader.byte('header'),
  };
  const accountCount = reader.compactU16('accounts');
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const accounts = reader.list(accountCount, () => addressAt(buffer, reader.skip(KEY_BYTES, 'accounts')));
  const blockhash = addressAt(buffer, reader.skip(KEY_BYTES, 'blockhash'));
  const compiled = readInstructions(reader);
  const lookupTables = versioned ? skipLookupTables(reader) : 0;

  const fault = findFault({ header, signatureCount, accounts, compiled, lookupTables, remaining: reader.remaining });
  if (fault !== undefined) return undecodable(fault);
  // Accounts of lookup tables have no name before it has landed; such a payment is refused before its instructions are read.
  const named = loaded.length === 0 ? accounts : [...accounts, ...loaded];
  const instructions: Instruction[] = [];
  const plain: PlainInstruction[] = [];
  for (const it of compiled) {
    const instruction = resolve(it, named);
    instructions.push(instruction);
    plain.push(readInstruction(instruction));
  }
  return {
    ok: true,
    transaction: {
      bytes,
      version: versioned ? 0 : 'legacy',
      signatures,
      signaturesOffset,
      message,
      messageHash: hash('sha256', message),
      accounts,
      requiredSignatures: header.required,
      blockhash,
      instructions,
      plain,
      lookupTables,
    },
  };
}

interface CompiledInstruction {
  readonly programIndex: number;
  readonly accountIndexes: Uint8Array;
  readonly data: Uint8Array;
}

function readInstructions(reader: ByteReader): CompiledInstruction[] {
  return reader.list(reader.compactU16('instructions'), () => ({
    programIndex: reader.byte('instructions'),
    accountIndexes: reader.take(reader.compactU16('instruction accounts'), 'instruction accounts'),
    data: reader.take(reader.compactU16('instruction data'), 'instruction data'),
  }));
}

function resolve({ programIndex, accountIndexes, data }: CompiledInstruction, named: readonly string[]): Instruction {
  const accounts: string[] = [];
  for (const index of accountIndexes) accounts.push(named[index] ?? '');
  return { program: named[programIndex] ?? '', accounts, data };
}

function skipLookupTables(reader: ByteReader): number {
  const count = reader.compactU16('lookup tables');
  for (let index = 0; index < count; index += 1) {
    reader.skip(KEY_BYTES, 'lookup tables');
    reader.skip(reader.compactU16('lookup tables'), 'lookup tables');
    reader.skip(reader.compactU16('lookup tables'), 'lookup tables');
  }
  return count;
}

interface Anatomy {
  readonly header: { readonly required: number; readonly readonlySigned: number; readonly readonlyUnsigned: number };
  readonly signatureCount: number;
  readonly accounts: readonly string[];
  readonly compiled: readonly CompiledInstruction[];
  readonly lookupTables: number;
  readonly remaining: number;
}

/** The runtime's own sanity rules, and none of the bytes left over. */
function findFault({
  header,
  signatureCount,
  accounts,
  compiled,
  lookupTables,
  remaining,
}: Anatomy): string | undefined {
  if (remaining > 0) return `${remaining} bytes follow its end`;
  if (header.required === 0) return 'it requires no signature';
  if (header.required !== signatureCount)
    return `it has ${signatureCount} signature slots and requires ${header.required}`;
  if (header.readonlySigned >= header.required) return 'its fee payer is not writable';
  if (header.required + header.readonlyUnsigned > accounts.length)
    return 'its header counts more accounts than it names';
  if (new Set(accounts).size !== accounts.length) return 'it names an account twice';
  for (const { programIndex, accountIndexes } of compiled) {
    if (programIndex === 0 || programIndex >= accounts.length) return 'an instruction names no program of it';
    if (lookupTables === 0 && accountIndexes.some((index) => index >= accounts.length)) {
      return 'an instruction names an account that it does not have';
    }
  }
  return undefined;
}

function undecodable(detail: string): DecodeResult {
  return {
    ok: false,
    reason: 'invalid_exact_svm_payload_transaction_could_not_be_decoded',
    detail: `The transaction cannot be decoded: ${detail}.`,
  };
}

function unsupportedVersion(version: number): DecodeResult {
  return {
    ok: false,
    reason: 'invalid_exact_svm_payload_transaction_version_unsupported',
    detail: `Transactions with a version ${version} message are not supported yet; sign a legacy or version 0 transaction.`,
  };
}
