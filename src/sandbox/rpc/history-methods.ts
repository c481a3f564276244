import type { Chain } from '../chain/chain.js';
import type { LedgerEntry } from '../chain/ledger.js';
import {
  asCommitment,
  asSignature,
  type Config,
  readAddress,
  readConfig,
  readList,
  withContext,
} from '../encoding/params.js';
import { transactionJson } from '../encoding/transaction-json.js';
import type { Fault } from '../faults.js';
import { invalidParams } from '../runtime/rpc-error.js';
import type { RpcMethod } from './method.js';

const MAX_STATUSES = 256;
const MAX_SIGNATURES = 1_000;
/** Slots a node remembers statuses of without searching its history. */
const RECENT_SLOTS = 300;

const getSignatureStatuses: RpcMethod = (chain, params, fault) => {
  const signatures = readList(params, 0, MAX_STATUSES).map(asSignature);
  const everything = readConfig(params, 1)['searchTransactionHistory'] === true;
  const oldest = everything ? 0 : chain.slots.slot() - RECENT_SLOTS;
  const statuses = signatures.map((signature) => {
    const landed = chain.ledger.find(signature);
    return landed === undefined || landed.slot < oldest || forgets(fault) ? null : statusJson(chain, landed);
  });
  return withContext(chain, 'processed', statuses);
};

const getTransaction: RpcMethod = (chain, params, fault) => {
  const signature = asSignature(params[0]);
  const config = typeof params[1] === 'string' ? { encoding: params[1] } : readConfig(params, 1);
  const visible = chain.slots.slot(atLeastConfirmed(config));
  const landed = chain.ledger.find(signature);
  return landed === undefined || landed.slot > visible || forgets(fault)
    ? null
    : transactionJson(chain, landed, config);
};

const getSignaturesForAddress: RpcMethod = (chain, params, fault) => {
  const address = readAddress(params, 0);
  const config = readConfig(params, 1);
  const { limit = MAX_SIGNATURES, before, until } = config;
  if (typeof limit !== 'number' || limit < 1 || limit > MAX_SIGNATURES) {
    throw invalidParams(`Invalid limit; max ${MAX_SIGNATURES}`);
  }
  const visible = chain.slots.slot(atLeastConfirmed(config));
  const found: unknown[] = [];
  if (forgets(fault)) return found;
  let started = before === undefined || before === null;
  for (const landed of chain.ledger.mentioning(address)) {
    if (landed.signature === until || found.length >= limit) {
      break;
    }
    if (started && landed.slot <= visible) {
      found.push(signatureJson(chain, landed));
    }
    started ||= landed.signature === before;
  }
  return found;
};

/** The oldest slot whose blocks are still there. */
const getFirstAvailableBlock: RpcMethod = (chain, _params, fault) => (forgets(fault) ? chain.slots.slot() : 0);

function forgets(fault: Fault | undefined): boolean {
  return fault?.kind === 'forget';
}

function statusJson(chain: Chain, { slot, execution }: LedgerEntry): unknown {
  const confirmationStatus = chain.slots.commitmentOf(slot);
  return {
    slot,
    confirmations: confirmationStatus === 'finalized' ? null : chain.slots.slot() - slot,
    err: execution.err,
    status: execution.err === null ? { Ok: null } : { Err: execution.err },
    confirmationStatus,
  };
}

function signatureJson(chain: Chain, landed: LedgerEntry): unknown {
  return {
    signature: landed.signature,
    slot: landed.slot,
    err: landed.execution.err,
    memo: landed.memo,
    blockTime: chain.slots.blockTime(landed.slot),
    confirmationStatus: chain.slots.commitmentOf(landed.slot),
  };
}

function atLeastConfirmed(config: Config): 'confirmed' | 'finalized' {
  const commitment = asCommitment(config['commitment']);
  if (commitment === 'processed') {
    throw invalidParams('Method does not support commitment below `confirmed`');
  }
  return commitment;
}

/** Methods that look transactions up. */
export const HISTORY_METHODS = {
  getSignatureStatuses,
  getTransaction,
  getSignaturesForAddress,
  getFirstAvailableBlock,
} satisfies Record<string, RpcMethod>;
