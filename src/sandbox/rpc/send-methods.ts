import {
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import type { Commitment } from '../../protocol/types.js';
import type { Chain } from '../chain/chain.js';
import { encodeAccount } from '../encoding/account-encoding.js';
import {
  asAddress,
  asCommitment,
  type Config,
  readAddress,
  readCommitment,
  readConfig,
  readCount,
  withContext,
} from '../encoding/params.js';
import { parseInstruction } from '../encoding/parse-instruction.js';
import { innerGroups } from '../encoding/transaction-json.js';
import type { Fault } from '../faults.js';
import { MEMO_PROGRAMS } from '../runtime/memo.js';
import { invalidParams, JsonRpcFault, RPC_CODES } from '../runtime/rpc-error.js';
import type { Execution } from '../runtime/runtime.js';
import { describeTransactionError } from '../runtime/transaction-errors.js';
import { transactionFee } from '../runtime/transaction-fee.js';
import {
  decodeWireTransaction,
  hasValidSignatures,
  parseWireTransaction,
  type WireTransaction,
} from '../runtime/wire-transaction.js';
import type { RpcMethod } from './method.js';

const MEMO_PROGRAM = new PublicKey(MEMO_PROGRAMS[0]);
const DEFAULT_LATE_SLOTS = 5;

const sendTransaction: RpcMethod = (chain, params, fault) => {
  const config = readConfig(params, 1);
  const transaction = decodeWireTransaction(params[0], readEncoding(config));
  requireSignatures(transaction);
  if (config['skipPreflight'] !== true) {
    preflight(chain, transaction, asCommitment(config['preflightCommitment']));
  }
  deliver(chain, transaction, fault);
  return transaction.signature;
};

const simulateTransaction: RpcMethod = (chain, params) => {
  const config = readConfig(params, 1);
  const commitment = readCommitment(chain, config);
  const transaction = decodeWireTransaction(params[0], readEncoding(config));
  const replace = config['replaceRecentBlockhash'] === true;
  if (config['sigVerify'] === true) {
    if (replace) {
      throw new JsonRpcFault(RPC_CODES.invalidParams, 'sigVerify may not be used with replaceRecentBlockhash');
    }
    requireSignatures(transaction);
  }
  const execution = chain.bank.simulate(transaction, commitment, replace);
  const height = chain.slots.height(commitment);
  // Whatever the commitment, it ran on the newest accounts.
  return withContext(chain, 'processed', {
    ...simulationJson(transaction, execution),
    accounts: simulatedAccounts(chain, execution, config['accounts'], transaction.staticKeys.length),
    innerInstructions: config['innerInstructions'] === true ? innerJson(transaction, execution) : null,
    replacementBlockhash: replace
      ? { blockhash: chain.blockhashes.at(height), lastValidBlockHeight: chain.blockhashes.lastValid(height) }
      : null,
  });
};

const requestAirdrop: RpcMethod = (chain, params) => {
  const to = new PublicKey(readAddress(params, 0));
  const lamports = readCount(params, 1);
  const payerKey = chain.treasury.publicKey;
  // The memo tells two air drops of one amount in one slot apart.
  const memo = new TransactionInstruction({
    programId: MEMO_PROGRAM,
    keys: [],
    data: Buffer.from(`air drop ${chain.ledger.count()}`),
  });
  const instructions = [SystemProgram.transfer({ fromPubkey: payerKey, toPubkey: to, lamports }), memo];
  const recentBlockhash = chain.blockhashes.at(chain.slots.height());
  const signed = new VersionedTransaction(
    new TransactionMessage({ payerKey, recentBlockhash, instructions }).compileToV0Message(),
  );
  signed.sign([chain.treasury]);
  const transaction = parseWireTransaction(signed.serialize());
  chain.bank.land(transaction);
  return transaction.signature;
};

function readEncoding(config: Config): 'base58' | 'base64' {
  const encoding = config['encoding'] ?? 'base58';
  if (encoding !== 'base58' && encoding !== 'base64') {
    throw invalidParams(`unsupported encoding: ${JSON.stringify(encoding)}. Supported encodings: base58, base64`);
  }
  return encoding;
}

function requireSignatures(transaction: WireTransaction): void {
  if (!hasValidSignatures(transaction)) {
    throw new JsonRpcFault(RPC_CODES.signatureVerification, 'Transaction signature verification failure');
  }
}

function preflight(chain: Chain, transaction: WireTransaction, commitment: Commitment): void {
  const execution = chain.bank.simulate(transaction, commitment);
  if (execution.err !== null) {
    const message = `Transaction simulation failed: ${describeTransactionError(execution.err)}`;
    const rest = { accounts: null, innerInstructions: null, replacementBlockhash: null };
    const data = { ...simulationJson(transaction, execution), ...rest };
    throw new JsonRpcFault(RPC_CODES.preflightFailure, message, data);
  }
}

function deliver(chain: Chain, transaction: WireTransaction, fault: Fault | undefined): void {
  if (fault?.kind === 'drop') {
    return;
  }
  if (fault?.kind !== 'late') {
    chain.bank.land(transaction);
    return;
  }
  const due = chain.slots.slot() + (fault.slots ?? DEFAULT_LATE_SLOTS);
  const stop = chain.slots.onSlot((slot) => {
    if (slot >= due) {
      stop();
      chain.bank.land(transaction);
    }
  });
}

function simulationJson(transaction: WireTransaction, execution: Execution): Record<string, unknown> {
  const { err, logs, unitsConsumed, returnData } = execution;
  return {
    err,
    fee: transactionFee(transaction.parsed.message),
    logs,
    returnData:
      returnData === null
        ? null
        : { programId: returnData.programId, data: [Buffer.from(returnData.data).toString('base64'), 'base64'] },
    unitsConsumed,
  };
}

function innerJson(transaction: WireTransaction, execution: Execution): unknown {
  return innerGroups(execution, (inner) => parseInstruction(inner, transaction.staticKeys));
}

function simulatedAccounts(chain: Chain, execution: Execution, wanted: unknown, max: number): unknown {
  if (typeof wanted !== 'object' || wanted === null) {
    return null;
  }
  const { addresses, encoding } = { addresses: [] as unknown, encoding: 'base64' as unknown, ...wanted };
  if (!Array.isArray(addresses)) {
    throw invalidParams('accounts.addresses must be a list of addresses');
  }
  if (encoding === 'base58' || encoding === 'binary') throw invalidParams('base58 encoding not supported');
  if (addresses.length > max) throw invalidParams(`Too many accounts provided; max ${max}`);
  return addresses
    .map(asAddress)
    .map((address) =>
      execution.err === null
        ? encodeAccount(address, { encoding }, (at) => execution.postAccounts.get(at) ?? chain.runtime.account(at))
        : null,
    );
}

/** Methods that run transactions. */
export const SEND_METHODS = { sendTransaction, simulateTransaction, requestAirdrop } satisfies Record<
  string,
  RpcMethod
>;
