import type { NetworkId } from '../../protocol/types.js';
import type { OwedEntry, OwedReader, SharedPayment, TakenByPayout } from '../../storage/books/owed-reader.js';
import { byRecipient } from '../../storage/payouts/payout-rows.js';
import { type Findings, sameLegs, shownLegs } from './finding.js';

/** What checking what is owed needs. */
export interface OwedCheckParts {
  readonly owed: OwedReader;
  readonly network: NetworkId;
  /** Split wallets that the service has the key of, base58; those of the books are looked at as well. */
  readonly splitWallets: readonly string[];
  /** Since when the books are complete, milliseconds since the epoch: what was paid out before may be forgotten. */
  readonly from: number;
}

const ASK = 'look into the backups which of the two was changed; until then hold the payouts of this project back';

/**
 * Compares what is owed with the payments that it is owed for, and with the payouts that took it, in both directions. The
 * chain is not asked: the payments and the payouts are compared with it by themselves.
 */
export async function checkOwed(parts: OwedCheckParts, findings: Findings): Promise<void> {
  const { owed, network, from } = parts;
  for await (const page of owed.shared(network, from)) {
    for (const payment of page) checkShared(payment, findings);
  }
  for await (const page of owed.strays(network, from)) {
    for (const { paymentId, recipient, amount, mint, state } of page) {
      const why = state === undefined ? 'is not in the books' : `is ${state}, or belongs to nobody else`;
      const detail = `${amount} of ${mint} are owed to ${recipient}, and the payment ${why}`;
      findings.differs({ kind: 'owed', ids: [paymentId, recipient], detail, advice: ASK });
    }
  }
  for (const wallet of await walletsOf(parts)) {
    for (const id of await owed.unshared(network, from, wallet)) {
      const detail = `the split wallet ${wallet} has received it, and nobody is to get any of it`;
      findings.differs({ kind: 'owed', ids: [id], detail, advice: ASK });
    }
  }
  for await (const page of owed.taken(network, from)) {
    for (const payout of page) checkTaken(payout, findings);
  }
  for (const { payoutId, paymentId } of await owed.missingPayouts(network)) {
    const detail = 'what is owed was taken by a payout that is not in the books: nobody pays it';
    findings.differs({ kind: 'payout', ids: [payoutId, paymentId], detail, advice: ASK });
  }
}

async function walletsOf({ owed, network, splitWallets }: OwedCheckParts): Promise<ReadonlySet<string>> {
  return new Set([...splitWallets, ...(await owed.holdings(network)).map(({ wallet }) => wallet)]);
}

/** A payment that was not received is owed to nobody; the entries of such a one are found from the other side. */
function checkShared(payment: SharedPayment, findings: Findings): void {
  const { id, legs, amount, state, isAccrued, entries } = payment;
  if (state !== 'confirmed' && state !== 'served') return;
  const differs = (detail: string): void => findings.differs({ kind: 'owed', ids: [id], detail, advice: ASK });
  const sum = legs.reduce((total, leg) => total + leg.amount, 0n);
  if (sum !== amount) differs(`the payment is of ${amount}, and its shares sum to ${sum}`);
  if (!isAccrued && entries.length === 0) return;
  const shares = byRecipient(legs);
  if (!sameLegs(shares, entries)) {
    return differs(`the shares are ${shownLegs(shares)}, and booked as owed: ${shownLegs(entries)}`);
  }
  const strange = entries.map((entry) => strangeness(payment, entry)).find((it) => it !== undefined);
  if (strange !== undefined) differs(strange);
}

function strangeness(payment: SharedPayment, entry: OwedEntry): string | undefined {
  const compared = [
    ['network', payment.network, entry.network],
    ['wallet', payment.payTo, entry.wallet],
    ['token', payment.asset, entry.mint],
    ['project', payment.projectId, entry.projectId],
    ['owner', payment.owner, entry.owner],
  ] as const;
  const other = compared.find(([, paid, owed]) => paid !== owed);
  if (other === undefined) return undefined;
  const [what, paid, owed] = other;
  return `the ${what} of the payment is ${paid}, and what ${entry.recipient} is owed of it has ${owed}`;
}

/** A payout has taken what it pays; one that failed has given all of it back. */
function checkTaken({ payoutId, state, legs, taken, foreign }: TakenByPayout, findings: Findings): void {
  const differs = (detail: string): void => findings.differs({ kind: 'payout', ids: [payoutId], detail, advice: ASK });
  if (state === 'failed') {
    if (taken.length > 0) differs(`it is booked as failed, and has still taken ${shownLegs(taken)}`);
    return;
  }
  if (!sameLegs(legs, taken)) differs(`it pays ${shownLegs(legs)}, and has taken what is owed: ${shownLegs(taken)}`);
  else if (foreign > 0) differs(`${foreign} entries that it has taken are of another wallet, token or project`);
}
