import { randomUUID } from 'node:crypto';
import type { Keypair } from '@solana/web3.js';
import type { PayoutSender } from '../../src/facilitator/payouts/payout-sender.js';
import { createPayouts, type Payouts, type PayoutsParts } from '../../src/gateway/payouts/payouts.js';
import type { Leg } from '../../src/protocol/money/split.js';
import { createSqlLedger } from '../../src/storage/ledger/sql-ledger.js';
import type { PayoutStore } from '../../src/storage/payouts/payout-store.js';
import { createSqlPayoutStore } from '../../src/storage/payouts/sql-payout-store.js';
import type { SqlDatabase } from '../../src/storage/sql/sql-database.js';
import { newClaim, TERMS } from '../contracts/ledger-samples.js';
import { testClock } from './test-clock.js';
import { openTollStand, QUICK, type TollStand } from './toll-stand.js';

/** One instance of the service, as far as payouts go. */
export interface PayoutInstance {
  readonly payouts: Payouts;
  readonly book: PayoutStore;
  readonly sender: PayoutSender;
  /** What went wrong in the background. */
  readonly faults: readonly unknown[];
}

/** A chain with a split wallet, and instances that pay out of it. */
export interface PayoutStand extends TollStand {
  readonly split: Keypair;
  readonly wallet: string;
  readonly mint: string;
  readonly now: () => number;
  advance(milliseconds: number): Promise<void>;
  /** A new instance with a facilitator of its own. `change` replaces steps of what it does on the chain. */
  instance(
    database: SqlDatabase,
    change?: (sender: PayoutSender) => Partial<PayoutSender>,
    more?: Partial<PayoutsParts>,
  ): PayoutInstance;
  /** A wallet with an empty account for USDC, base58. */
  newRecipient(): Promise<string>;
  /** What a wallet holds of USDC, atomic units. */
  held(address: string): bigint;
  /** Writes down a payment of a project, of an owner, that has landed in the split wallet. */
  land(database: SqlDatabase, projectId: string, owed: readonly Leg[], wallet?: string, owner?: string): Promise<void>;
}

/** Blockhashes must outlive a test on a busy machine; a slot lasts 20 ms here. */
const BLOCKHASH_AGE = 5_000;

/** Opens a stand whose split wallet holds so much USDC, decimal. */
export async function openPayoutStand(usdc = '1000'): Promise<PayoutStand> {
  const toll = await openTollStand({ maxBlockhashAgeBlocks: BLOCKHASH_AGE });
  const { sandbox } = toll;
  const split = await sandbox.createWallet({ usdc });
  const wallet = split.publicKey.toBase58();
  const mint = sandbox.tokens[0]!.mint;
  const { now, advance } = testClock();
  return {
    ...toll,
    split,
    wallet,
    mint,
    now,
    advance,
    instance(database, change = () => ({}), more = {}) {
      const { payouts: real } = toll.facilitatorWith({ splitKeypair: split }, QUICK);
      const sender = { ...real!, ...change(real!) };
      const book = createSqlPayoutStore(database, now);
      const faults: unknown[] = [];
      const onFault = (error: unknown): void => void faults.push(error);
      return { payouts: createPayouts({ book, sender, now, onFault, ...more }), book, sender, faults };
    },
    newRecipient: async () => (await sandbox.createWallet({ usdc: '0' })).publicKey.toBase58(),
    held: (address) => sandbox.tokenBalance(address, mint),
    async land(database, projectId, owed, payTo = wallet, owner = undefined) {
      const ledger = createSqlLedger(database, now);
      const amount = owed.reduce((sum, leg) => sum + leg.amount, 0n);
      const whose = owner === undefined ? {} : { owner };
      const claim = newClaim({ projectId, owed, ...whose, terms: { ...TERMS, asset: mint, payTo, amount } });
      await ledger.claim(claim);
      await ledger.recordOutcome(claim.id, claim.lease, { state: 'confirmed', slot: 7, signature: '5'.repeat(88) });
      await ledger.served(claim.id, claim.lease);
    },
  };
}

/** An id of a project of a test's own. */
export function newProjectId(): string {
  return `prj_${randomUUID()}`;
}
