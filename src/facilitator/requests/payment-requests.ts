import { TollhouseError } from '../../errors/errors.js';
import { defined } from '../../lib/defined.js';
import { isAddress } from '../../protocol/address.js';
import { isBuiltIn, NATIVE_TOKEN } from '../../protocol/networks/tokens.js';
import { REASONS, type Reason } from '../../protocol/reasons.js';
import type { Token } from '../../protocol/types.js';
import type { MintPolicy } from '../../solana/accounts/mint-policy.js';
import { readMint } from '../../solana/accounts/token-accounts.js';
import { isOnCurve } from '../../solana/transaction/on-curve.js';
import type { PaymentRequestRecord } from '../../storage/ledger/payment-request.js';
import { online } from '../backend/chain-landing.js';
import { requestEvent } from '../events/event-records.js';
import type { HoldingsReader } from '../holdings/holding.js';
import { openProof } from '../proofs/landed-proof.js';
import type { RequestParts } from '../proofs/request-terms.js';
import { createTellBeside, type TellBesideParts } from '../proofs/tell-beside.js';
import { createReadBesidePrice } from '../proofs/unmatched-payments.js';
import { createWalletPayments } from '../proofs/wallet-payments.js';
import { readRecipients } from '../setup-check/recipients.js';
import { checkPayer, newPaymentRequest, readAddresses } from './create-request.js';
import { lookUpSignature } from './look-up.js';
import type { CreatedPayment, PaymentRequests } from './payment-request-types.js';
import { outlineTransfer, prepareTransfer, type TransferContext } from './prepare-transfer.js';
import { createRequestStates } from './request-state.js';
import { settleRequest } from './settle-request.js';

/** What payments of our own making need. */
export interface PaymentRequestParts
  extends RequestParts,
    TransferContext,
    Pick<TellBesideParts, 'eventLog' | 'onFault'> {
  readonly tokens: readonly Token[];
  readonly mintPolicy: MintPolicy;
  /** Rejects with `bad_option` where a token of `tokens` is another on the chain. */
  readonly confirmMint: HoldingsReader['readMint'];
  /** The fee payer that is offered, base58. */
  readonly feePayer: string;
}

const RETRY_SECONDS = 2;
const NO_TOKEN = 'is no token that can be paid in here';

/** Payments of our own making, over the same desk as all others. */
export function createPaymentRequests(parts: PaymentRequestParts): PaymentRequests {
  const { ledger, rpc, feePayer, network, now } = parts;
  const { managedKeys } = parts.policy;
  const walletPayments = createWalletPayments(parts);
  const proofParts = { ...parts, walletPayments };
  const states = createRequestStates(parts, walletPayments, createReadBesidePrice(parts, createTellBeside(parts)));
  const tokenRules: Pick<PaymentRequests, 'findToken' | 'tokenFault'> = {
    findToken: (text) => findToken(text, parts),
    tokenFault: (text) => tokenFault(text, parts),
  };
  const context = { network, managedKeys, now, ...tokenRules };

  async function prepare(request: PaymentRequestRecord, payer: string, payingFee: string): Promise<CreatedPayment> {
    await parts.suspensions?.refuseWallet(payer);
    const missing = await readRecipients(request, rpc);
    return { request, transfer: await prepareTransfer(request, { payer, feePayer: payingFee }, missing, parts) };
  }

  async function outline(request: PaymentRequestRecord): Promise<CreatedPayment> {
    return { request, transfer: await outlineTransfer(request, feePayer, await readRecipients(request, rpc)) };
  }

  return {
    async createPayment(wanted, accept) {
      const request = await newPaymentRequest(readAddresses(wanted), context);
      const { payer } = request;
      const created = payer === undefined ? await outline(request) : await prepare(request, payer, feePayer);
      await accept?.(request);
      await ledger.savePaymentRequest(request, wanted.tellsSeller === false ? [] : [requestEvent(request)]);
      parts.events.emit('payment.created', { request });
      return created;
    },
    async preparePayment(id, payer, payingFee, askSeller) {
      const state = await states(id);
      if (state === undefined) return undefined;
      const { request, status } = state;
      checkPayer(payer, request.legs, context);
      if (status === 'settled') throw new TollhouseError('payment_already_settled', 'This payment is settled already.');
      if (status === 'pending') throw onItsWay();
      if (now() > request.expiresAt) {
        throw new TollhouseError('payment_expired', 'The time for this payment is over; create a new one.');
      }
      await askSeller?.(request);
      const prepared = await prepare(request, payer, payingFee === 'payer' ? payer : feePayer);
      return { ...prepared, ...defined({ unmatched: state.unmatched }) };
    },
    paymentRequest: states,
    async settleRequest(id, transaction, askSeller, client) {
      const request = await ledger.findPaymentRequest(id);
      // Those of other networks are the business of the facilitators there, which share the ledger.
      if (request?.network !== network) return { status: 'not_found' };
      return settleRequest({ ...parts, walletPayments, askSeller, client }, request, transaction);
    },
    ...tokenRules,
    isWallet: isOnCurve,
    openProof: (signature, use) => openProof(proofParts, signature, use),
    lookUp: (signature) => lookUpSignature(signature, rpc),
  };
}

function onItsWay(): TollhouseError {
  const detail = 'A transaction for this payment is on its way; ask again in a moment what has become of it.';
  return new TollhouseError('payment_in_progress', detail, { retryAfterSeconds: RETRY_SECONDS });
}

interface JudgedToken {
  readonly token?: Token | undefined;
  /** Why it is not taken. */
  readonly reason?: Reason | undefined;
}

/** SOL is native here; a mint that is not among the known ones is read from the chain. Each must pass the mint policy. */
async function judgeToken(text: string, parts: PaymentRequestParts): Promise<JudgedToken> {
  const { tokens, rpc, mintPolicy, confirmMint } = parts;
  if (text.toUpperCase() === NATIVE_TOKEN.symbol || text === NATIVE_TOKEN.mint) return { token: NATIVE_TOKEN };
  const known = tokens.find(({ symbol, mint }) => mint === text || symbol === text.toUpperCase());
  if (known !== undefined && !isBuiltIn(known)) await confirmMint(known.mint);
  const token = known ?? (await readToken(text, rpc));
  if (token === undefined) return {};
  return { token, reason: await online(Promise.resolve(mintPolicy(token.mint, token.program))) };
}

async function findToken(text: string, parts: PaymentRequestParts): Promise<Token | undefined> {
  const { token, reason } = await judgeToken(text, parts);
  return reason === undefined ? token : undefined;
}

async function tokenFault(text: string, parts: PaymentRequestParts): Promise<string> {
  const { reason } = await judgeToken(text, parts);
  return reason === undefined ? NO_TOKEN : `${NO_TOKEN}. ${REASONS[reason]}`;
}

async function readToken(text: string, rpc: PaymentRequestParts['rpc']): Promise<Token | undefined> {
  const mint = isAddress(text) ? await online(readMint(text, rpc)) : undefined;
  return mint && { symbol: text, mint: text, ...mint };
}
