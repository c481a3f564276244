import { VersionedMessage } from '@solana/web3.js';
import { SLOTS_PER_EPOCH } from '../chain/chain.js';
import { API_VERSION, readCommitment, readConfig, readCount, withContext } from '../encoding/params.js';
import { invalidParams } from '../runtime/rpc-error.js';
import { transactionFee } from '../runtime/transaction-fee.js';
import type { RpcMethod } from './method.js';

const FEATURE_SET = 3_604_001_754;
const FEE_WINDOW_SLOTS = 150;

const getLatestBlockhash: RpcMethod = (chain, params) => {
  const commitment = readCommitment(chain, readConfig(params, 0));
  const height = chain.slots.height(commitment);
  const blockhash = chain.blockhashes.at(height);
  return withContext(chain, commitment, { blockhash, lastValidBlockHeight: chain.blockhashes.lastValid(height) });
};

const isBlockhashValid: RpcMethod = (chain, params) => {
  const commitment = readCommitment(chain, readConfig(params, 1));
  const [blockhash] = params;
  if (typeof blockhash !== 'string') {
    throw invalidParams('the first parameter must be a blockhash');
  }
  return withContext(chain, commitment, chain.blockhashes.isValid(blockhash, chain.slots.height(commitment)));
};

const getEpochInfo: RpcMethod = (chain, params) => {
  const commitment = readCommitment(chain, readConfig(params, 0));
  const absoluteSlot = chain.slots.slot(commitment);
  return {
    absoluteSlot,
    blockHeight: chain.slots.height(commitment),
    epoch: Math.floor(absoluteSlot / SLOTS_PER_EPOCH),
    slotIndex: absoluteSlot % SLOTS_PER_EPOCH,
    slotsInEpoch: SLOTS_PER_EPOCH,
    transactionCount: chain.ledger.count(),
  };
};

const getFeeForMessage: RpcMethod = (chain, params) => {
  const commitment = readCommitment(chain, readConfig(params, 1));
  const message = readMessage(params[0]);
  const fresh = chain.blockhashes.isValid(message.recentBlockhash, chain.slots.height(commitment));
  return withContext(chain, commitment, fresh ? transactionFee(message) : null);
};

const getRecentPrioritizationFees: RpcMethod = (chain) => {
  const last = chain.slots.slot();
  return Array.from({ length: FEE_WINDOW_SLOTS }, (_, index) => ({
    slot: last - FEE_WINDOW_SLOTS + 1 + index,
    prioritizationFee: 0,
  }));
};

function readMessage(text: unknown): VersionedMessage {
  try {
    return VersionedMessage.deserialize(Buffer.from(String(text), 'base64'));
  } catch {
    throw invalidParams('the first parameter must be a message as base64');
  }
}

/** Methods about the chain as a whole: time, blockhashes, fees, the node itself. */
export const CHAIN_METHODS = {
  getLatestBlockhash,
  isBlockhashValid,
  getEpochInfo,
  getFeeForMessage,
  getRecentPrioritizationFees,
  getSlot: (chain, params) => chain.slots.slot(readCommitment(chain, readConfig(params, 0))),
  getBlockHeight: (chain, params) => chain.slots.height(readCommitment(chain, readConfig(params, 0))),
  getBlockTime: (chain, params) => chain.slots.blockTime(readCount(params, 0)),
  getGenesisHash: (chain) => chain.genesisHash,
  getHealth: () => 'ok',
  getMinimumBalanceForRentExemption: (chain, params) => chain.runtime.rentExempt(readCount(params, 0)),
  getVersion: () => ({ 'solana-core': API_VERSION, 'feature-set': FEATURE_SET }),
} satisfies Record<string, RpcMethod>;
