import type { Row, SqlDatabase } from '../../src/storage/sql/sql-database.js';
import { PRICE, USDC } from './goods.js';
import type { OpenShop } from './open-shop.js';
import type { FailedRequest, SentPayment } from './payment-book.js';

const PASSES = { name: 'soak_left', text: 'select payment_id, kind, remaining from tollhouse_pass' };
const REFUNDS = {
  name: 'soak_refunds',
  text: 'select id, payment_id, state, amount, taken, signature from tollhouse_refund',
};

/** What the books know of refunds. */
export interface BookedRefunds {
  /** Signatures of those that were signed, base58. */
  readonly signatures: readonly string[];
  readonly all: readonly Row[];
}

/** Reads the refunds. */
export async function readRefunds(database: SqlDatabase): Promise<BookedRefunds> {
  const all = await database.query(REFUNDS);
  return { all, signatures: all.flatMap(({ signature }) => (signature === null ? [] : [String(signature)])) };
}

/**
 * What was paid for requests that failed is what was had since, what is left and what was paid back, to the unit; the wallet that pays
 * back has lost that, and nothing else.
 * @param hasLanded - whether a transaction is on the chain, and has not failed
 */
export async function checkFailed(
  shop: OpenShop,
  database: SqlDatabase,
  refunds: BookedRefunds,
  hasLanded: (signature: string) => boolean,
): Promise<void> {
  const { name, findings, book, sandbox, refundWallet, before } = shop;
  const passes = new Map((await database.query(PASSES)).map((row) => [String(row.payment_id), row]));
  const paid = refunds.all.filter(({ state }) => state === 'paid');
  for (const payment of book.payments) {
    if (payment.failed === undefined || !hasLanded(payment.signature)) continue;
    const back = paid.filter((it) => it.payment_id === payment.id);
    const fault = leftFault(payment, payment.failed, passes.get(payment.id), back);
    if (fault !== undefined) findings.broke(`${name}: ${payment.door}, ${payment.path}, ${payment.id}: ${fault}`);
  }
  const sum = paid.reduce((total, { amount }) => total + BigInt(String(amount)), 0n);
  const lost = before.refunds - sandbox.tokenBalance(refundWallet.publicKey.toBase58(), USDC);
  if (lost !== sum) findings.broke(`${name}: the refund wallet has lost ${lost}, and refunds were ${sum}`);
}

function leftFault(
  { deliveries, end }: SentPayment,
  { uses, lost }: FailedRequest,
  pass: Row | undefined,
  refunds: readonly Row[],
): string | undefined {
  if (pass === undefined) return `paid (${end}), and left with nothing`;
  const unit = pass.kind === 'credit' ? PRICE : 1n;
  const had = BigInt(new Set(deliveries.map(({ run }) => run)).size);
  const back = refunds.reduce((total, { taken }) => total + BigInt(String(taken)), 0n);
  const left = BigInt(String(pass.remaining));
  const sum = had * unit + back + left;
  const told = `of ${uses * unit} were had ${had * unit}, paid back ${back}, are left ${left}, and at most ${lost} uses lost`;
  if (refunds.length > 1 || refunds.some(({ amount }) => BigInt(String(amount)) !== PRICE))
    return `paid back wrongly: ${told}`;
  return sum <= uses * unit && sum >= (uses - BigInt(lost)) * unit ? undefined : told;
}
