import type { Keypair } from '@solana/web3.js';
import { badOption } from '../../errors/errors.js';
import { answerSignIn, readSignIn } from '../../identity/sign-in/answer-sign-in.js';
import { shown } from '../../lib/parsed.js';
import { parseDecimal } from '../../protocol/money/money.js';
import { type HeaderReader, type PayableTerms, readOffers } from '../../protocol/wire/client.js';
import { buildPaymentTransaction } from '../../solana/building/payment-transaction.js';
import { readKeypair } from '../../solana/keypair.js';
import type { Chain } from '../chain/chain.js';
import { decodeMint, type Mint } from '../runtime/token-layout.js';
import type { SandboxNetwork } from '../sandbox-options.js';
import { headerReader, type RefusedResponse } from './refused-response.js';

/** Bounds on what is paid. */
export interface PayLimits {
  /** The most that a payment may be, in the unit of its token: `'0.05'`. Default: no limit. Terms that are dearer are passed over. */
  readonly maxAmount?: string | undefined;
}

/** Headers to send with the same request again. */
export type ProofHeaders = Readonly<Record<string, string>>;

/** A wallet of the sandbox at somebody's gate. */
export interface Buyer {
  paymentHeaders(wallet: Keypair, response: RefusedResponse, limits?: PayLimits): ProofHeaders;
  signInHeaders(wallet: Keypair, response: RefusedResponse): ProofHeaders;
}

interface Offer {
  readonly payable: PayableTerms;
  readonly mint: Mint;
  /** The token program of the mint. */
  readonly program: string;
}

/** Makes what pays, with tokens of the chain, and signs in. Nothing of it goes over the network. */
export function createBuyer(chain: Chain, network: SandboxNetwork): Buyer {
  return {
    paymentHeaders(wallet, response, { maxAmount } = {}) {
      const { payable, mint, program } = chooseOffer(
        chain,
        network,
        headerReader('paymentHeaders', response),
        maxAmount,
      );
      const { feePayer, asset, amount, payTo, memo } = payable.terms;
      if (feePayer === undefined)
        throw badOption('paymentHeaders', 'the terms name no fee payer, so nobody can pay them');
      const blockhash = chain.blockhashes.at(chain.slots.height('confirmed'));
      const { decimals } = mint;
      const transfer = { payer: wallet, feePayer, asset, tokenProgram: program, decimals, amount, payTo, blockhash };
      const transaction = buildPaymentTransaction(memo === undefined ? transfer : { ...transfer, memo });
      return { [payable.headerName]: payable.headerValue(transaction) };
    },
    signInHeaders(wallet, response) {
      const header = headerReader('signInHeaders', response);
      const offered = readSignIn(header);
      if (offered === undefined) {
        const isPriced = readOffers(header, '').ok;
        const detail = isPriced ? 'it asks for a payment alone, which is what paymentHeaders(…) is for' : NO_CHALLENGE;
        throw badOption('signInHeaders', `the response (${response.status}) offers no sign-in: ${detail}`);
      }
      const signed = answerSignIn(offered, readKeypair(wallet, 'signInHeaders', 'wallet'));
      if (!signed.ok) throw badOption('signInHeaders', `what the response asks to sign is not valid: ${signed.detail}`);
      return signed.value;
    },
  };
}

const NO_CHALLENGE = 'it must be the 401 or 402 of a gate, which has a PAYMENT-REQUIRED header';

/** The first of the terms that is not over the limit, as the official client chooses. */
function chooseOffer(
  chain: Chain,
  network: SandboxNetwork,
  header: HeaderReader,
  maxAmount: string | undefined,
): Offer {
  const offers = readOffers(header, '');
  if (!offers.ok) throw badOption('paymentHeaders', notPayable(header, offers.detail));
  const here = offers.value.filter(({ terms }) => terms.network === network);
  const [first] = here.map((payable) => offerOn(chain, payable)).filter((offer) => isWithin(offer, maxAmount));
  if (first !== undefined) return first;
  const detail =
    here.length === 0
      ? `none of the terms is on ${network}, which this sandbox answers as; give createFacilitator the sandbox's "network", or startSandbox another`
      : `all terms are over "maxAmount", which is ${shown(maxAmount)}`;
  throw badOption('paymentHeaders', detail);
}

function notPayable(header: HeaderReader, detail: string): string {
  if (readSignIn(header) === undefined) return `the response asks for no payment: ${detail}`;
  return 'the response asks for a sign-in, and for no payment: signInHeaders(…) is for that';
}

function offerOn({ runtime }: Chain, payable: PayableTerms): Offer {
  const { asset } = payable.terms;
  const account = runtime.account(asset);
  const mint = decodeMint(account);
  if (account !== null && mint !== null) return { payable, mint, program: account.owner };
  const detail = `the token ${asset} of the terms is not on this chain; "createMint" of the sandbox makes one`;
  throw badOption('paymentHeaders', detail);
}

function isWithin({ payable, mint }: Offer, maxAmount: string | undefined): boolean {
  if (maxAmount === undefined) return true;
  const limit = parseDecimal(maxAmount, mint.decimals);
  if (!limit.ok) throw badOption('paymentHeaders', `"maxAmount": ${limit.detail}`, 'maxAmount');
  return payable.terms.amount <= limit.value;
}
