import { isAddress } from '../protocol/address.js';
import type { NetworkId, Token } from '../protocol/types.js';
import type { MintPolicy } from '../solana/mint-policy.js';
import { NATIVE_SOL } from '../solana/programs.js';
import { readMint } from '../solana/token-accounts.js';
import type { PaymentRequestRecord } from '../storage/ledger.js';
import { online } from './chain-landing.js';
import { checkPayer, newPaymentRequest } from './create-request.js';
import { lookUpSignature } from './look-up.js';
import type { CreatedPayment, PaymentRequests } from './payment-request-types.js';
import { outlineTransfer, prepareTransfer, type TransferContext } from './prepare-transfer.js';
import { createRequestStates } from './request-state.js';
import { type SettleRequestParts, settleRequest } from './settle-request.js';

/** What payments of our own making need. */
export interface PaymentRequestParts extends SettleRequestParts, TransferContext {
  readonly network: NetworkId;
  readonly tokens: readonly Token[];
  readonly mintPolicy: MintPolicy;
  /** The fee payer that is offered, base58. */
  readonly feePayer: string;
}

const SOL: Token = { symbol: 'SOL', mint: NATIVE_SOL, decimals: 9, program: NATIVE_SOL };

/** Payments of our own making, over the same desk as all others. */
export function createPaymentRequests(parts: PaymentRequestParts): PaymentRequests {
  const { ledger, rpc, feePayer } = parts;
  const { managedKeys } = parts.policy;
  const states = createRequestStates(parts);
  const context = {
    network: parts.network,
    managedKeys,
    now: parts.now,
    findToken: (token: string) => findToken(token, parts),
  };

  async function prepare(request: PaymentRequestRecord, payer: string, payingFee: string): Promise<CreatedPayment> {
    return { request, transfer: await prepareTransfer(request, payer, payingFee, parts) };
  }

  return {
    async createPayment(asked) {
      const request = await newPaymentRequest(asked, context);
      const created =
        request.payer === undefined
          ? { request, transfer: outlineTransfer(request, feePayer) }
          : await prepare(request, request.payer, feePayer);
      await ledger.savePaymentRequest(request);
      parts.events.emit('payment.created', { request });
      return created;
    },
    async preparePayment(id, payer, payingFee) {
      checkPayer(payer, context);
      const request = await ledger.findPaymentRequest(id);
      return request && prepare(request, payer, payingFee === 'payer' ? payer : feePayer);
    },
    paymentRequest: states,
    async settleRequest(id, transaction) {
      const request = await ledger.findPaymentRequest(id);
      return request === undefined ? { status: 'not_found' } : settleRequest(parts, request, transaction);
    },
    lookUp: (signature) => lookUpSignature(signature, rpc),
  };
}

/** SOL is native here; a mint that is not among the known ones is read from the chain and must pass the mint policy. */
async function findToken(text: string, { tokens, rpc, mintPolicy }: PaymentRequestParts): Promise<Token | undefined> {
  if (text.toUpperCase() === SOL.symbol) return SOL;
  const known = tokens.find(({ symbol, mint }) => mint === text || symbol === text.toUpperCase());
  if (known !== undefined || !isAddress(text)) return known;
  const mint = await online(readMint(text, rpc));
  if (mint === undefined || (await online(mintPolicy(text, mint.program))) !== undefined) return undefined;
  return { symbol: text, mint: text, ...mint };
}
