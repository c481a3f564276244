import { Keypair } from '@solana/web3.js';
import { GENESIS_HASHES } from '../../protocol/networks/networks.js';
import { guardProgram } from '../programs/guard-program.js';
import type { Runtime } from '../runtime/runtime.js';
import type { ResolvedOptions } from '../sandbox-options.js';
import { type AccountHistory, createAccountHistory } from './account-history.js';
import { type Bank, createBank } from './bank.js';
import { type Blockhashes, createBlockhashes } from './blockhashes.js';
import { type BlockHistory, createLedger } from './ledger.js';
import { createSlots, type Slots } from './slots.js';

/** Everything a JSON-RPC method can ask. */
export interface Chain {
  readonly genesisHash: string;
  readonly runtime: Runtime;
  readonly slots: Slots;
  readonly blockhashes: Blockhashes;
  readonly ledger: BlockHistory;
  readonly accounts: AccountHistory;
  readonly bank: Bank;
  /** Pays air drops and sandbox chores, and is the authority of every mint. */
  readonly treasury: Keypair;
}

/** Slots per epoch on every Solana cluster. */
export const SLOTS_PER_EPOCH = 432_000;

const LIGHTHOUSE = 'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95';
const TREASURY_LAMPORTS = 400_000_000_000_000_000n;

/** Puts the parts of a chain together and keeps the runtime's clock in step with its slots. */
export function createChain(runtime: Runtime, options: ResolvedOptions): Chain {
  const slots = createSlots(options.slotMs, options.confirmedAfterSlots, options.finalizedAfterSlots);
  const past = Math.max(options.finalizedAfterSlots, 1);
  const blockhashes = createBlockhashes(slots.height(), options.maxBlockhashAgeBlocks, past);
  const accounts = createAccountHistory(runtime, slots);
  const ledger = createLedger(options.historyLimit);
  const bank = createBank({ runtime, slots, blockhashes, ledger, accounts });
  const treasury = Keypair.generate();

  const syncClock = (slot: number): void => {
    runtime.setSysvars(() => ({
      slot,
      epoch: Math.floor(slot / SLOTS_PER_EPOCH),
      unixTime: slots.blockTime(slot) ?? 0,
      slotHashes: blockhashes.past().map((hash, before) => ({ slot: BigInt(slot - 1 - before), hash })),
    }));
  };
  syncClock(slots.slot());
  slots.onSlot((slot) => {
    blockhashes.add(slots.height());
    syncClock(slot);
  });
  runtime.addProgram(LIGHTHOUSE, guardProgram());
  const account = { lamports: TREASURY_LAMPORTS, owner: '1'.repeat(32), data: new Uint8Array(), executable: false };
  runtime.setAccount(treasury.publicKey.toBase58(), account);
  return {
    genesisHash: GENESIS_HASHES[options.network],
    runtime,
    slots,
    blockhashes,
    ledger,
    accounts,
    bank,
    treasury,
  };
}
