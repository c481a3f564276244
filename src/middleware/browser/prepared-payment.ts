import { randomUUID } from 'node:crypto';
import { holdingsOf } from '../../access/holdings.js';
import { TollhouseError } from '../../errors/errors.js';
import type { Facilitator } from '../../facilitator/types.js';
import { defined } from '../../lib/defined.js';
import { amountIn } from '../../pages/texts/amounts.js';
import { newNonce } from '../../protocol/codecs/nonce-header.js';
import { writeUnsignedPayment } from '../../protocol/codecs/x402-v2.js';
import { formatAmount } from '../../protocol/money/money.js';
import { declareIdentifier, PAYMENT_IDENTIFIER } from '../../protocol/payment-identifier.js';
import type { Terms, Token } from '../../protocol/types.js';
import { paymentFlowOf } from '../terms/list-route.js';
import type { ResolvedPaymentOptions } from '../terms/payment-options.js';
import type { PaymentWanted } from './prepare-header.js';
import { type ShownPrice, shownPrice } from './shown-price.js';

/** A payment that a wallet can sign, as it goes over the wire. */
export interface PreparedPayment {
  readonly offer: ShownPrice;
  /** What goes into PAYMENT-SIGNATURE, once its transaction is signed. */
  readonly payment: Readonly<Record<string, unknown>>;
  /** What the wallet has, and what it lacks; missing where the chain was not asked. */
  readonly balance?: string;
  readonly missing?: string;
  /** Whether it has nothing at all of the token. */
  readonly isEmpty?: boolean;
}

/**
 * Prepares a payment for a wallet that somebody names: a transaction to sign, and whether it holds the amount. The chain is asked about
 * the wallet as often as about any that strangers name, which is not often (`Holdings.forAnybody`): beyond that nothing is said of it.
 * @param by.language - of the page
 * @param by.client - what names the address of who asks; where it is not known no address has a share
 */
export async function preparePayment(
  options: ResolvedPaymentOptions,
  offered: readonly Terms[],
  wanted: PaymentWanted,
  by: { readonly language: string; readonly client: string | undefined },
): Promise<PreparedPayment> {
  const { facilitator } = options;
  const terms = chosenTerms(offered, wanted);
  const [transaction, funds] = await Promise.all([
    facilitator.unsignedPayment(terms, wanted.payer),
    fundsOf(facilitator, terms, { ...by, wallet: wanted.payer }),
  ]);
  const extras = { nonce: newNonce(), paymentFlow: paymentFlowOf(options), extensions: identifierOf(options) };
  return {
    offer: shownPrice(terms, facilitator.tokens, by.language),
    payment: writeUnsignedPayment(terms, extras, transaction),
    ...funds,
  };
}

/** The offer that was chosen; where its price has changed meanwhile, the one in its token. */
function chosenTerms(offered: readonly Terms[], { asset, amount }: PaymentWanted): Terms {
  const inToken = offered.filter((it) => it.asset === asset);
  const terms = inToken.find((it) => String(it.amount) === amount) ?? inToken[0] ?? offered[0];
  if (terms === undefined) throw new TollhouseError('invalid_request', 'Nothing is sold here.');
  return terms;
}

async function fundsOf(
  facilitator: Facilitator,
  { asset, amount }: Terms,
  {
    wallet,
    client,
    language,
  }: { readonly wallet: string; readonly client: string | undefined; readonly language: string },
): Promise<Pick<PreparedPayment, 'balance' | 'missing' | 'isEmpty'>> {
  try {
    const { forAnybody } = holdingsOf(facilitator);
    // Who was told that it is too little has topped it up since.
    const asked = { wallet, mints: [asset], atLeast: amount, looksAgain: true };
    const held = await forAnybody.readHolding({ ...asked, ...defined({ client }) });
    if (held.amount >= amount) return {};
    const facts = facilitator.tokens.find(({ mint }) => mint === asset) ?? (await forAnybody.readMint(asset, client));
    const say = (units: bigint) => inToken(units, asset, facts, language);
    return { balance: say(held.amount), missing: say(amount - held.amount), isEmpty: held.amount === 0n };
  } catch (error) {
    // Whether it is enough is told when it is paid.
    if (error instanceof TollhouseError) return {};
    throw error;
  }
}

function inToken(units: bigint, asset: string, facts: Partial<Token> | undefined, language: string): string {
  const amount = facts?.decimals === undefined ? String(units) : formatAmount(units, facts.decimals);
  return amountIn(language, { amount, token: facts?.symbol ?? asset });
}

/** A name for the payment, where the seller asks for one. */
function identifierOf({ paymentIdentifier }: ResolvedPaymentOptions) {
  if (paymentIdentifier !== 'required') return undefined;
  const declared = declareIdentifier(true);
  return { [PAYMENT_IDENTIFIER]: { ...declared, info: { required: true, ...defined({ id: randomUUID() }) } } };
}
