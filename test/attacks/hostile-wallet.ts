import type { Keypair } from '@solana/web3.js';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { USDC } from '../helpers/crash/crash-fixture.js';
import { openTollFixture, type TollFixture } from '../helpers/fixtures/toll-fixture.js';
import { emptyWallet } from '../helpers/transactions/empty-wallet.js';
import { type SignedPayment, signPayment } from '../helpers/transactions/payments.js';
import { until } from '../helpers/until.js';

/** What one way of attacking has cost whom, in lamports. */
export interface AttackCost {
  readonly attack: string;
  readonly attempts: number;
  /** Network fees that our fee payer paid for them. */
  readonly feePayerLost: number;
  /** What the owner of the wallets paid for goods and for transactions of his own. */
  readonly attackerLost: number;
  /** Payments of an honest payer beside it, and how many of them were served. */
  readonly honest: number;
  readonly honestServed: number;
}

/** Lamports for a thousandth of a dollar, where 1 SOL is worth 200 dollars. */
const PRICE_IN_LAMPORTS = 5_000;
const PRICE = 1_000n;
/** A transaction of the attacker's own: to fill a wallet, to empty it. The rent of accounts comes back when he closes them. */
const OWN_TRANSACTION = 5_000;
const AT_ONCE = 20;
const ROUNDS = 25;
/** So many the send window lets a new wallet have on their way. */
const SENT_AT_ONCE = 8;

interface Arena {
  readonly fixture: TollFixture;
  readonly url: string;
  /** Signs so many payments. */
  sign(payer: Keypair, count: number): Promise<readonly SignedPayment[]>;
  /** How many of them are served. */
  send(payments: readonly SignedPayment[]): Promise<number>;
}

/** One round of twenty payments; answers what it cost the attacker. */
type Round = (arena: Arena) => Promise<number>;

/** Twenty payments at once from a wallet with money for one; each round from a wallet that is filled again. */
function emptyPockets(): Round {
  let wallet: Keypair | undefined;
  return async ({ fixture, sign, send }) => {
    wallet ??= await fixture.sandbox.createWallet({ usdc: '0' });
    fixture.sandbox.fundToken(wallet.publicKey.toBase58(), USDC, PRICE);
    const payments = await sign(wallet, AT_ONCE);
    fixture.sandbox.faults.add({ kind: 'late', slots: 4 });
    const served = await send(payments);
    fixture.sandbox.faults.clear();
    return OWN_TRANSACTION + served * PRICE_IN_LAMPORTS;
  };
}

/** Money for all twenty, taken away while they are on their way; each round from a fresh wallet, as the last one must wait. */
const pulledRug: Round = async ({ fixture: { sandbox }, sign, send }) => {
  const wallet = await sandbox.createWallet({ usdc: '0.02' });
  const payments = await sign(wallet, AT_ONCE);
  sandbox.faults.add({ kind: 'late', slots: 25 });
  const { sendTransaction } = sandbox.calls;
  const sending = send(payments);
  await until(() => sandbox.calls.sendTransaction >= sendTransaction + SENT_AT_ONCE);
  emptyWallet(sandbox, wallet, USDC);
  const served = await sending;
  sandbox.faults.clear();
  return 2 * OWN_TRANSACTION + served * PRICE_IN_LAMPORTS;
};

const ATTACKS: readonly (readonly [string, () => Round])[] = [
  ['twenty at once from a wallet with money for one, landing four slots later', emptyPockets],
  ['twenty at once, the money taken away while they are on their way', () => pulledRug],
];

/** A thousand attempts of a hostile wallet, with an honest payer beside it, on a chain of their own. */
export async function measureHostileWallet(): Promise<readonly AttackCost[]> {
  const fixture = await openTollFixture({ maxBlockhashAgeBlocks: 10_000 });
  try {
    const costs: AttackCost[] = [];
    for (const [attack, newRound] of ATTACKS) costs.push(await measure(fixture, attack, newRound()));
    return costs;
  } finally {
    await fixture.close();
  }
}

async function measure(fixture: TollFixture, attack: string, round: Round): Promise<AttackCost> {
  const { sandbox } = fixture;
  const feePayer = await sandbox.createWallet({ sol: '1' });
  const honest = await sandbox.createWallet({ usdc: '1' });
  const { payTo } = fixture;
  const facilitator = fixture.facilitatorWith({ keypair: feePayer });
  const url = await fixture.serve((app) => {
    app.get('/', requirePayment({ facilitator, payTo, price: '$0.001' }), (_req, res) => void res.send('sold'));
  });
  const arena: Arena = {
    fixture,
    url,
    async sign(payer, count) {
      const signed: SignedPayment[] = [];
      for (let at = 0; at < count; at += 1) signed.push(await signPayment({ sandbox, payer }, url));
      return signed;
    },
    async send(payments) {
      const statuses = await Promise.all(
        payments.map(async ({ v2 }) => {
          const answer = await fetch(url, { headers: v2 });
          await answer.arrayBuffer();
          return answer.status;
        }),
      );
      return statuses.filter((status) => status === 200).length;
    },
  };
  const start = sandbox.balance(feePayer.publicKey.toBase58());
  let [attackerLost, honestServed] = [0, 0];
  for (let at = 0; at < ROUNDS; at += 1) {
    const [own] = await arena.sign(honest, 1);
    const [cost, served] = await Promise.all([round(arena), own === undefined ? 0 : arena.send([own])]);
    attackerLost += cost;
    honestServed += served;
  }
  const spent = Number(start - sandbox.balance(feePayer.publicKey.toBase58()));
  const attempts = ROUNDS * AT_ONCE;
  // What the honest payments cost is no loss.
  return { attack, attempts, feePayerLost: spent - honestServed * 10_001, attackerLost, honest: ROUNDS, honestServed };
}
