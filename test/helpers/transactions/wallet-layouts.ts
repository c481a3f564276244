import { Connection, type TransactionInstruction } from '@solana/web3.js';
import { readTerms } from '../../../src/protocol/wire/terms.js';
import { buildDraft, type Draft } from './draft.js';
import { honestDraft, honestTransfer } from './honest-draft.js';
import { askTerms, carry, type SignedPayment, type Wallet } from './payments.js';
import { guard, type TransferParts, unitLimit, unitPrice } from './raw-instructions.js';

/** What a wallet makes of the transaction that it is asked to sign. */
export type WalletLayout = (honest: Draft, transfer: TransferParts) => Draft;

/** Compute budget of a wallet: more units than the official client's, at a price. */
const BUDGET: readonly TransactionInstruction[] = [unitLimit(60_000), unitPrice(50_000n)];

/** Phantom since August 2026: `[limit, price, guard, guard, guard, transfer, memo, guard]`, on the fee payer's lamports too. */
export const phantom: WalletLayout = (honest, { authority, source }) => {
  const [, , transfer, memo] = honest.instructions;
  const before = [guard(5, [authority]), guard(5, [honest.feePayer]), guard(8, [source])];
  return { ...honest, instructions: [...BUDGET, ...before, transfer!, memo!, guard(5, [honest.feePayer, authority])] };
};

/** Solflare: a guard before and a guard after what it was asked to sign. */
export const solflare: WalletLayout = (honest, { source, authority }) => {
  const [, , transfer, memo] = honest.instructions;
  const [before, after] = [guard(5, [authority]), guard(8, [source, honest.feePayer])];
  return { ...honest, instructions: [...BUDGET, before, transfer!, memo!, after] };
};

/** Asks a route for its price and pays it in USDC as a wallet would sign it. */
export async function signLaidOut(
  { sandbox, payer }: Wallet,
  url: string,
  layout: WalletLayout,
  version: Draft['version'] = 0,
): Promise<SignedPayment> {
  const [accepted] = (await askTerms(url)).accepts;
  const terms = readTerms(accepted!, 'accepts[0]');
  if (!terms.ok) throw new Error(terms.detail);
  const [token] = sandbox.tokens;
  const { blockhash } = await new Connection(sandbox.rpcUrl, 'confirmed').getLatestBlockhash();
  const plan = { terms: terms.value, payer, token: token!, blockhash };
  const draft = { ...layout(honestDraft(plan), honestTransfer(plan)), version };
  return carry(buildDraft(draft), accepted!);
}
