import type { VersionedMessage } from '@solana/web3.js';
import bs58 from 'bs58';
import type { Chain } from '../chain/chain.js';
import type { Balances, LedgerEntry } from '../chain/ledger.js';
import { invalidParams, JsonRpcFault, RPC_CODES } from '../runtime/rpc-error.js';
import type { Execution } from '../runtime/runtime.js';
import { tokenAmount } from '../runtime/token-layout.js';
import { parseWireTransaction, type WireTransaction } from '../runtime/wire-transaction.js';
import type { Config } from './params.js';
import { type CompiledInstruction, compiledJson, parseInstruction } from './parse-instruction.js';

type Render = (transaction: WireTransaction, landed: LedgerEntry) => unknown;

const ENCODINGS: Readonly<Record<string, Render>> = {
  json: (transaction) => plainJson(transaction),
  jsonParsed: (transaction, landed) => parsedJson(transaction, landed),
  base58: ({ bytes }) => [bs58.encode(bytes), 'base58'],
  base64: ({ bytes }) => [Buffer.from(bytes).toString('base64'), 'base64'],
};

/**
 * A transaction as `getTransaction` returns it.
 *
 * @param config - `encoding` (default `json`) and `maxSupportedTransactionVersion` (default: legacy only) count
 * @throws RpcError `-32015` when the transaction has a version the client does not speak
 */
export function transactionJson(chain: Chain, landed: LedgerEntry, config: Config): unknown {
  const { encoding = 'json', maxSupportedTransactionVersion: maxVersion } = config;
  const render = typeof encoding === 'string' && Object.hasOwn(ENCODINGS, encoding) ? ENCODINGS[encoding] : undefined;
  if (render === undefined) {
    throw invalidParams(`unknown encoding ${JSON.stringify(encoding)}, expected ${Object.keys(ENCODINGS).join(', ')}`);
  }
  const transaction = parseWireTransaction(landed.bytes);
  const { version } = transaction.parsed;
  const versioned = typeof maxVersion === 'number';
  if (version !== 'legacy' && !versioned) {
    throw unsupportedVersion(version);
  }
  return {
    blockTime: chain.slots.blockTime(landed.slot),
    meta: metaJson(landed, encoding === 'jsonParsed'),
    slot: landed.slot,
    transaction: render(transaction, landed),
    ...(versioned ? { version } : {}),
  };
}

/** The inner instructions of an execution, by the instruction that called them; instructions that called none are left out. */
export function innerGroups(execution: Execution, render: (inner: CompiledInstruction) => unknown): unknown[] {
  return execution.innerInstructions
    .map((group, index) => ({ index, instructions: group.map(render) }))
    .filter(({ instructions }) => instructions.length > 0);
}

function unsupportedVersion(version: number): JsonRpcFault {
  const hint = `Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`;
  const message = `Transaction version (${version}) is not supported by the requesting client. ${hint}`;
  return new JsonRpcFault(RPC_CODES.unsupportedVersion, message);
}

function metaJson(landed: LedgerEntry, parsed: boolean): Record<string, unknown> {
  const { execution, fee, keys, loaded, pre, post } = landed;
  const { err } = execution;
  return {
    computeUnitsConsumed: execution.unitsConsumed,
    err,
    fee,
    innerInstructions: innerGroups(execution, parsed ? (inner) => parseInstruction(inner, keys) : compiledJson),
    ...(parsed ? {} : { loadedAddresses: loaded }),
    logMessages: execution.logs,
    postBalances: post.lamports,
    postTokenBalances: tokensJson(post),
    preBalances: pre.lamports,
    preTokenBalances: tokensJson(pre),
    rewards: [],
    status: err === null ? { Ok: null } : { Err: err },
  };
}

function tokensJson({ tokens }: Balances): unknown[] {
  return tokens.map(({ amount, decimals, ...rest }) => ({ ...rest, uiTokenAmount: tokenAmount(amount, decimals) }));
}

function plainJson({ parsed: { message, signatures }, staticKeys }: WireTransaction): unknown {
  return {
    message: {
      accountKeys: staticKeys,
      ...(message.version === 'legacy' ? {} : { addressTableLookups: lookupsJson(message) }),
      header: message.header,
      instructions: instructionsOf(message).map(compiledJson),
      recentBlockhash: message.recentBlockhash,
    },
    signatures: signatures.map((signature) => bs58.encode(signature)),
  };
}

function parsedJson({ parsed: { message, signatures }, staticKeys }: WireTransaction, landed: LedgerEntry): unknown {
  const writableLoaded = staticKeys.length + landed.loaded.writable.length;
  return {
    message: {
      accountKeys: landed.keys.map((pubkey, index) => ({
        pubkey,
        signer: message.isAccountSigner(index),
        source: index < staticKeys.length ? 'transaction' : 'lookupTable',
        writable: index < staticKeys.length ? message.isAccountWritable(index) : index < writableLoaded,
      })),
      ...(message.version === 'legacy' ? {} : { addressTableLookups: lookupsJson(message) }),
      instructions: instructionsOf(message).map((instruction) => parseInstruction(instruction, landed.keys)),
      recentBlockhash: message.recentBlockhash,
    },
    signatures: signatures.map((signature) => bs58.encode(signature)),
  };
}

function lookupsJson(message: VersionedMessage): unknown[] {
  return message.addressTableLookups.map((table) => ({
    accountKey: table.accountKey.toBase58(),
    readonlyIndexes: table.readonlyIndexes,
    writableIndexes: table.writableIndexes,
  }));
}

function instructionsOf(message: VersionedMessage): CompiledInstruction[] {
  return message.compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) => ({
    programIdIndex,
    accounts: accountKeyIndexes,
    data,
    stackHeight: null,
  }));
}
