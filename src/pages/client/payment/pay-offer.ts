import type { PageOffer, PaywallData } from '../../paywall/paywall-data.js';
import type { PaywallStateTexts } from '../../texts/page-texts.js';
import { reasonInWords } from '../../texts/refusals/reason-words.js';
import { canEnterWith } from '../enter.js';
import { toBase64, toHeader } from '../wire/bytes.js';
import { ALREADY_USED, type Brought, bringPayment, PAID_BEFORE } from './bring-payment.js';
import { type PaymentToSign, prepare, transactionOf } from './prepare.js';
import { forgetPayment, savePayment } from './saved-payment.js';
import { connect, type Wallet, type WalletAccount } from './wallets.js';

type Refused = Extract<Brought, { readonly status: 'refused' }>;

/** What a reader is told, with the words that are put into it. */
export type Say = (text: keyof PaywallStateTexts, words?: Readonly<Record<string, string>>) => void;

/** What is next for a reader who has not paid: to try again, to see again whether the wallet has enough, or to get the terms again. */
type Next = 'again' | 'check' | 'reload';

/** How an attempt to pay ended. */
export type Paid =
  | { readonly status: 'in'; readonly answer: Response; readonly header?: string }
  /** It is signed, and to be brought by going to what it pays for. */
  | { readonly status: 'entering'; readonly header: string }
  /** Nothing was paid; what there was to say was said. */
  | { readonly status: 'stopped'; readonly next: Next }
  /** It is paid, or may be: the same payment is to be brought again. */
  | { readonly status: 'kept'; readonly header: string };

/** Codes of payments whose blockhash has run out, and that have not landed: nothing can be paid with them. */
const RUN_OUT: ReadonlySet<string> = new Set([
  'invalid_exact_svm_blockhash_expired',
  'invalid_exact_svm_transaction_expired',
]);

/**
 * Pays an offer with a wallet, from the connection to the answer. Terms that run out meanwhile are renewed once.
 * @param hasWaited - whether another tab has paid, or tried to, since its reader asked for this: where that has let this one in as well,
 *   nothing is paid, and else it is for the reader to say. Default false
 */
export async function payOffer(
  data: PaywallData,
  offer: PageOffer,
  wallet: Wallet,
  say: Say,
  hasWaited = false,
): Promise<Paid> {
  const words = { wallet: wallet.name, network: data.networkName, token: offer.token };
  const stop = (text: keyof PaywallStateTexts, more = {}, next: Next = 'again'): Paid => {
    say(text, { ...words, ...more });
    return { status: 'stopped', next };
  };
  if (!wallet.chains.includes(data.chain)) return stop('wrongNetwork');
  say('connecting', words);
  const account = await connect(wallet).catch(() => undefined);
  if (account === undefined) return stop('declined');
  for (let isRenewed = false; ; isRenewed = true) {
    if (!isRenewed) say('preparing');
    const preparation = await prepare(data, offer, account.address);
    if (preparation.status === 'in') return preparation;
    if (preparation.status === 'failed') return stop('notPrepared', { reason: preparation.reason });
    if (hasWaited) return stop('otherTabDone');
    const { prepared } = preparation;
    if (!isSame(prepared.offer, offer)) return stop('priceChanged', {}, 'reload');
    const { balance, missing, isEmpty } = prepared;
    if (missing !== undefined) return stop(isEmpty ? 'noToken' : 'notEnough', { balance, missing }, 'check');
    say(isRenewed ? 'renewed' : 'confirm', words);
    const header = await signed(prepared, wallet, account, data.chain).catch(() => undefined);
    if (header === undefined) return stop('declined');
    if (data.isUpfront && canEnterWith(data.request, header)) {
      say('settling');
      return { status: 'entering', header };
    }
    const brought = await bring(data, header, say, offer.turn);
    if (brought.status === 'in') return { ...brought, header };
    if (brought.status === 'failed') return { status: 'kept', header };
    // Where it was brought before, and no word came of that, it is for the reader to say whether another is signed.
    const mayRenew = !isRenewed && !brought.isDoubtful && RUN_OUT.has(brought.code);
    if (!mayRenew) return refusedPayment(brought, header, { data, say });
  }
}

/** Brings a payment that was signed, and keeps it until its outcome is known. */
export async function bring({ request }: PaywallData, header: string, say: Say, turn?: string): Promise<Brought> {
  savePayment(request.key, { header, isPaid: false, turn });
  say('settling');
  const brought = await bringPayment(request, header, say);
  if (brought.status === 'in') savePayment(request.key, { header, isPaid: true });
  if (brought.status === 'refused' && !isPaidBefore(brought)) forgetPayment(request.key);
  if (brought.status === 'failed') say('siteFailed', { status: String(brought.httpStatus) });
  return brought;
}

/**
 * Says why a payment that was signed here is refused. One that has paid is kept: whoever presses, or asks for the page once more, reads the
 * same again and is not sold it a second time.
 * @param wasPaid - whether the server has said before that it is paid. Default false
 */
export function refusedPayment(
  refused: Refused,
  header: string,
  { data, say }: { readonly data: Pick<PaywallData, 'reasons'>; readonly say: Say },
  wasPaid = false,
): Paid {
  const { code, reason: detail, signature } = refused;
  if (isPaidBefore(refused)) {
    say('paidBefore', { signature });
    return { status: 'kept', header };
  }
  const reason = reasonInWords({ code, detail }, data.reasons);
  say(wasPaid || code === ALREADY_USED ? 'lost' : 'refused', { reason });
  return { status: 'stopped', next: 'again' };
}

function isPaidBefore({ code, signature }: Refused): boolean {
  return code === PAID_BEFORE && signature !== '';
}

async function signed(prepared: PaymentToSign, wallet: Wallet, account: WalletAccount, chain: string) {
  const feature = wallet.features['solana:signTransaction'];
  const outputs = await feature?.signTransaction({ account, chain, transaction: transactionOf(prepared) });
  const transaction = outputs?.[0]?.signedTransaction;
  if (transaction === undefined) return undefined;
  const { payment } = prepared;
  return toHeader({ ...payment, payload: { transaction: toBase64(transaction) } });
}

function isSame(one: PageOffer, other: PageOffer): boolean {
  return one.asset === other.asset && one.amount === other.amount;
}
