import bs58 from 'bs58';
import { TOKEN_2022_PROGRAM } from './token-layout.js';

/** One extension of a Token-2022 account or mint, as RPC nodes write it. */
export interface ParsedExtension {
  readonly extension: string;
  readonly state?: Readonly<Record<string, unknown>>;
}

type Reader = (data: Buffer) => ParsedExtension['state'];

const NO_ADDRESS = '1'.repeat(32);
const ACCOUNT_STATES = ['uninitialized', 'initialized', 'frozen'];

/** Extensions by their number in the type-length-value list (Token-2022, `ExtensionType`). */
const EXTENSIONS: Readonly<Record<number, readonly [name: string, read?: Reader]>> = {
  1: ['transferFeeConfig', readTransferFeeConfig],
  2: ['transferFeeAmount', (data) => ({ withheldAmount: data.readBigUInt64LE(0) })],
  3: ['mintCloseAuthority', (data) => ({ closeAuthority: address(data, 0) })],
  4: ['confidentialTransferMint', readConfidentialMint],
  6: ['defaultAccountState', (data) => ({ accountState: ACCOUNT_STATES[data.readUInt8(0)] })],
  7: ['immutableOwner'],
  8: ['memoTransfer', (data) => ({ requireIncomingTransferMemos: data.readUInt8(0) === 1 })],
  9: ['nonTransferable'],
  10: ['interestBearingConfig', readInterest],
  11: ['cpiGuard', (data) => ({ lockCpi: data.readUInt8(0) === 1 })],
  12: ['permanentDelegate', (data) => ({ delegate: address(data, 0) })],
  13: ['nonTransferableAccount'],
  14: ['transferHook', (data) => ({ authority: address(data, 0), programId: address(data, 32) })],
  15: ['transferHookAccount', (data) => ({ transferring: data.readUInt8(0) === 1 })],
  18: ['metadataPointer', (data) => ({ authority: address(data, 0), metadataAddress: address(data, 32) })],
  20: ['groupPointer', (data) => ({ authority: address(data, 0), groupAddress: address(data, 32) })],
  22: ['groupMemberPointer', (data) => ({ authority: address(data, 0), memberAddress: address(data, 32) })],
  26: ['pausableConfig', (data) => ({ authority: address(data, 0), paused: data.readUInt8(32) === 1 })],
  27: ['pausableAccount'],
};

/** The `extensions` member of a parsed Token-2022 account or mint; nothing where there are none. */
export function parseExtensions(list: Buffer, program: string): { extensions?: ParsedExtension[] } {
  if (program !== TOKEN_2022_PROGRAM) {
    return {};
  }
  const extensions: ParsedExtension[] = [];
  let at = 0;
  while (at + 4 <= list.length) {
    const type = list.readUInt16LE(at);
    const end = at + 4 + list.readUInt16LE(at + 2);
    if (type === 0 || end > list.length) {
      break;
    }
    extensions.push(parseExtension(type, list.subarray(at + 4, end)));
    at = end;
  }
  return extensions.length === 0 ? {} : { extensions };
}

function parseExtension(type: number, data: Buffer): ParsedExtension {
  const [extension, read] = EXTENSIONS[type] ?? ['unparseableExtension'];
  const state = read?.(data);
  return state === undefined ? { extension } : { extension, state };
}

function readTransferFeeConfig(data: Buffer): ParsedExtension['state'] {
  const fee = (at: number): Record<string, unknown> => ({
    epoch: data.readBigUInt64LE(at),
    maximumFee: data.readBigUInt64LE(at + 8),
    transferFeeBasisPoints: data.readUInt16LE(at + 16),
  });
  return {
    transferFeeConfigAuthority: address(data, 0),
    withdrawWithheldAuthority: address(data, 32),
    withheldAmount: data.readBigUInt64LE(64),
    olderTransferFee: fee(72),
    newerTransferFee: fee(90),
  };
}

function readConfidentialMint(data: Buffer): ParsedExtension['state'] {
  const auditor = data.subarray(33, 65);
  return {
    authority: address(data, 0),
    autoApproveNewAccounts: data.readUInt8(32) === 1,
    auditorElgamalPubkey: auditor.every((byte) => byte === 0) ? null : auditor.toString('base64'),
  };
}

function readInterest(data: Buffer): ParsedExtension['state'] {
  return {
    rateAuthority: address(data, 0),
    initializationTimestamp: data.readBigInt64LE(32),
    preUpdateAverageRate: data.readInt16LE(40),
    lastUpdateTimestamp: data.readBigInt64LE(42),
    currentRate: data.readInt16LE(50),
  };
}

function address(data: Buffer, at: number): string | null {
  const text = bs58.encode(data.subarray(at, at + 32));
  return text === NO_ADDRESS ? null : text;
}
