import bs58 from 'bs58';
import { MEMO_PROGRAMS } from '../runtime/memo.js';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM, tokenAmount } from '../runtime/token-layout.js';

/** An instruction whose indexes point into a transaction's account keys. */
export interface CompiledInstruction {
  readonly programIdIndex: number;
  readonly accounts: readonly number[];
  readonly data: Uint8Array;
  /** 1 for the transaction's own instructions where a node tells; null where it does not. */
  readonly stackHeight: number | null;
}

/** What a known instruction does, as RPC nodes write it. */
interface Parsed {
  readonly type: string;
  readonly info: Readonly<Record<string, unknown>>;
}

type Parser = (accounts: readonly string[], data: Buffer) => Parsed | string | null;

/** An instruction in the `json` encoding. */
export function compiledJson({ programIdIndex, accounts, data, stackHeight }: CompiledInstruction): unknown {
  return { accounts, data: bs58.encode(data), programIdIndex, stackHeight };
}

/**
 * An instruction in the `jsonParsed` encoding: what it does where the program and the instruction are known, its
 * accounts and data where they are not.
 *
 * @param keys - the transaction's account keys
 */
export function parseInstruction(instruction: CompiledInstruction, keys: readonly string[]): unknown {
  const programId = keys[instruction.programIdIndex] ?? '';
  const accounts = instruction.accounts.map((index) => keys[index] ?? '');
  const data = Buffer.from(instruction.data);
  const { stackHeight } = instruction;
  const [program, parser] = PROGRAMS[programId] ?? [];
  const parsed = parser === undefined ? null : attempt(() => parser(accounts, data));
  return parsed === null
    ? { accounts, data: bs58.encode(data), programId, stackHeight }
    : { parsed, program, programId, stackHeight };
}

/** Data that is too short for what it claims to be is shown unparsed. */
function attempt(parse: () => Parsed | string | null): Parsed | string | null {
  try {
    return parse();
  } catch {
    return null;
  }
}

const PROGRAMS: Readonly<Record<string, readonly [name: string, parser: Parser]>> = {
  '11111111111111111111111111111111': ['system', parseSystem],
  [TOKEN_PROGRAM]: ['spl-token', parseToken],
  [TOKEN_2022_PROGRAM]: ['spl-token-2022', parseToken],
  ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL: ['spl-associated-token-account', parseAssociated],
  [MEMO_PROGRAMS[0]]: ['spl-memo', parseMemo],
  [MEMO_PROGRAMS[1]]: ['spl-memo', parseMemo],
};

function parseMemo(_accounts: readonly string[], data: Buffer): string {
  return data.toString('utf8');
}

function parseSystem(accounts: readonly string[], data: Buffer): Parsed | null {
  const [source, second] = accounts;
  switch (data.readUInt32LE(0)) {
    case 0: {
      const info = { source, newAccount: second, lamports: data.readBigUInt64LE(4), space: data.readBigUInt64LE(12) };
      return { type: 'createAccount', info: { ...info, owner: bs58.encode(data.subarray(20, 52)) } };
    }
    case 1:
      return { type: 'assign', info: { account: source, owner: bs58.encode(data.subarray(4, 36)) } };
    case 2:
      return { type: 'transfer', info: { source, destination: second, lamports: data.readBigUInt64LE(4) } };
    case 8:
      return { type: 'allocate', info: { account: source, space: data.readBigUInt64LE(4) } };
    default:
      return null;
  }
}

const ASSOCIATED_TYPES = ['create', 'createIdempotent'];

function parseAssociated(accounts: readonly string[], data: Buffer): Parsed | null {
  const type = ASSOCIATED_TYPES[data[0] ?? 0];
  const [source, account, wallet, mint, systemProgram, tokenProgram] = accounts;
  return type === undefined ? null : { type, info: { source, account, wallet, mint, systemProgram, tokenProgram } };
}

/** How to read one kind of token instruction: its name, the names of its accounts, and what else it says. */
interface TokenLayout {
  readonly type: string;
  readonly accounts: readonly string[];
  readonly fields?: (data: Buffer) => Readonly<Record<string, unknown>>;
}

const amount = (data: Buffer): Record<string, unknown> => ({ amount: data.readBigUInt64LE(1).toString() });
const checkedAmount = (data: Buffer): Record<string, unknown> => ({
  tokenAmount: tokenAmount(data.readBigUInt64LE(1), data.readUInt8(9)),
});
const ownerField = (data: Buffer): Record<string, unknown> => ({ owner: bs58.encode(data.subarray(1, 33)) });

const TOKEN_LAYOUTS: Readonly<Record<number, TokenLayout>> = {
  3: { type: 'transfer', accounts: ['source', 'destination', 'authority'], fields: amount },
  4: { type: 'approve', accounts: ['source', 'delegate', 'owner'], fields: amount },
  5: { type: 'revoke', accounts: ['source', 'owner'] },
  7: { type: 'mintTo', accounts: ['mint', 'account', 'mintAuthority'], fields: amount },
  8: { type: 'burn', accounts: ['account', 'mint', 'authority'], fields: amount },
  9: { type: 'closeAccount', accounts: ['account', 'destination', 'owner'] },
  10: { type: 'freezeAccount', accounts: ['account', 'mint', 'freezeAuthority'] },
  11: { type: 'thawAccount', accounts: ['account', 'mint', 'freezeAuthority'] },
  12: { type: 'transferChecked', accounts: ['source', 'mint', 'destination', 'authority'], fields: checkedAmount },
  13: { type: 'approveChecked', accounts: ['source', 'mint', 'delegate', 'owner'], fields: checkedAmount },
  14: { type: 'mintToChecked', accounts: ['mint', 'account', 'mintAuthority'], fields: checkedAmount },
  15: { type: 'burnChecked', accounts: ['account', 'mint', 'authority'], fields: checkedAmount },
  17: { type: 'syncNative', accounts: ['account'] },
  18: { type: 'initializeAccount3', accounts: ['account', 'mint'], fields: ownerField },
  21: { type: 'getAccountDataSize', accounts: ['mint'] },
  22: { type: 'initializeImmutableOwner', accounts: ['account'] },
};

function parseToken(accounts: readonly string[], data: Buffer): Parsed | null {
  const layout = TOKEN_LAYOUTS[data.readUInt8(0)];
  if (layout === undefined || accounts.length < layout.accounts.length) {
    return null;
  }
  const named = Object.fromEntries(layout.accounts.map((name, index) => [name, accounts[index]]));
  return { type: layout.type, info: { ...named, ...layout.fields?.(data) } };
}
