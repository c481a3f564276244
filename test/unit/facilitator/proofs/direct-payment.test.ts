import { readDirectPayment } from '../../../../src/facilitator/proofs/direct-payment.js';
import { SOL_MINT } from '../../../../src/protocol/networks/tokens.js';
import { REASONS, type Reason } from '../../../../src/protocol/reasons.js';
import type { LandedTransaction } from '../../../../src/solana/rpc/landed-transaction.js';
import { associatedTokenAddress } from '../../../../src/solana/transaction/associated-token.js';
import { NATIVE_SOL, PROGRAMS } from '../../../../src/solana/transaction/programs.js';
import { landedFor, requestOf, solTransfer } from '../../../helpers/request-parts.js';
import { walletKey } from '../../../helpers/transactions/wallet-key.js';

const [wallet, seller, stranger] = ['payer', 'seller', 'stranger'].map((it) => walletKey(it).address);
const MEMO = 'tollhouse:weather:key_1';
const SOL = { symbol: 'SOL', mint: SOL_MINT, decimals: 9, program: PROGRAMS.token };
const demand = { wallet: wallet!, memo: MEMO, price: { token: SOL, legs: [{ recipient: seller!, amount: 5n }] } };

const memo = (text: string, program: string = PROGRAMS.memo) => ({ program, accounts: [], data: Buffer.from(text) });
const transfer = { program: NATIVE_SOL, accounts: [wallet!, seller!], data: solTransfer(5) };

/** Five lamports from the wallet to the seller, with the memo, and whatever else. */
function landed(more: readonly string[] = [], change: Partial<LandedTransaction> = {}): LandedTransaction {
  const accounts = [wallet!, seller!, NATIVE_SOL, PROGRAMS.memo, ...more];
  return landedFor(requestOf(), { accounts, instructions: [transfer, memo(MEMO)], ...change });
}

const held = (owner: string) => ({
  mint: SOL_MINT,
  ownerBefore: owner,
  ownerAfter: owner,
  decimals: 9,
  before: 0n,
  after: 0n,
});
const PAID = { ok: true, payer: wallet, asset: NATIVE_SOL };
const UNADDRESSED = {
  ok: false,
  reason: 'invalid_proof_unaddressed',
  message: `${REASONS.invalid_proof_unaddressed} The memo is ${MEMO}`,
};

test.each<[string, () => LandedTransaction]>([
  ['nothing else', () => landed()],
  ['compute budget, guards and the programs of tokens', () => landed(Object.values(PROGRAMS))],
  ['the sysvar that creations of token accounts named', () => landed(['SysvarRent111111111111111111111111111111111'])],
  ['a token account of the wallet', () => landed(['held'], { tokenAccounts: new Map([['held', held(wallet!)]]) })],
  ['a token account of the seller', () => landed(['held'], { tokenAccounts: new Map([['held', held(seller!)]]) })],
  [
    'an account for wrapped SOL that was opened and closed on the way',
    () => landed([associatedTokenAddress(wallet!, SOL_MINT, PROGRAMS.token)]),
  ],
])('a payment with %s is for the call', (_what, made) => {
  expect(readDirectPayment(made(), demand)).toEqual(PAID);
});

test.each<[string, () => LandedTransaction]>([
  ['an account that nothing explains', () => landed([stranger!])],
  ['a token account of a stranger', () => landed(['held'], { tokenAccounts: new Map([['held', held(stranger!)]]) })],
  ['no memo', () => landed([], { instructions: [transfer] })],
  ['a memo that only begins so', () => landed([], { instructions: [transfer, memo(`${MEMO}2`)] })],
  ['two memos', () => landed([], { instructions: [transfer, memo(MEMO), memo('invoice')] })],
  [
    'a memo of another program',
    () => {
      const old = 'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo';
      return landed([old], { instructions: [transfer, memo(MEMO), memo('invoice', old)] });
    },
  ],
  ['another fee payer', () => landed([], { accounts: [stranger!, wallet!, seller!, NATIVE_SOL, PROGRAMS.memo] })],
])('a payment with %s is not', (_what, made) => {
  expect(readDirectPayment(made(), demand)).toEqual(UNADDRESSED);
});

test.each<[Reason, () => LandedTransaction, object]>([
  ['invalid_proof_foreign', () => landed(), { wallet: stranger }],
  ['invalid_transfer_leg_missing', () => landed([], { instructions: [memo(MEMO)] }), {}],
  ['invalid_transfer_leg_missing', () => landed(), { price: { ...demand.price, token: { ...SOL, mint: stranger } } }],
])('what does not pay is refused for that: %s', (reason, made, change) => {
  expect(readDirectPayment(made(), { ...demand, ...change })).toEqual({ ok: false, reason, message: REASONS[reason] });
});
