import { randomBytes } from 'node:crypto';
import type { Keypair, TransactionInstruction } from '@solana/web3.js';
import type { Terms, Token } from '../../../src/protocol/types.js';
import { associatedTokenAddress } from '../../../src/solana/transaction/associated-token.js';
import { PROGRAMS } from '../../../src/solana/transaction/programs.js';
import type { Draft } from './draft.js';
import { memo, type TransferParts, transferChecked, unitLimit, unitPrice } from './raw-instructions.js';

/** Who pays what to whom. */
export interface PaymentPlan {
  readonly terms: Terms;
  readonly payer: Keypair;
  readonly token: Pick<Token, 'decimals' | 'program'>;
  readonly blockhash: string;
}

const LIMIT = 20_000;

/** The transaction of the official client: compute budget, TransferChecked, memo. Position of the transfer: 2. */
export function honestDraft(plan: PaymentPlan): Draft {
  return {
    version: 0,
    feePayer: plan.terms.feePayer ?? '',
    blockhash: plan.blockhash,
    instructions: [
      unitLimit(LIMIT),
      unitPrice(1n),
      transferChecked(honestTransfer(plan)),
      memo(plan.terms.memo ?? randomBytes(16).toString('hex')),
    ],
    signers: [plan.payer],
  };
}

/** The parts of the transfer that the terms ask for. */
export function honestTransfer({ terms, payer, token }: Omit<PaymentPlan, 'blockhash'>): TransferParts {
  const authority = payer.publicKey.toBase58();
  const { asset, payTo, amount } = terms;
  return {
    source: associatedTokenAddress(authority, asset, token.program),
    mint: asset,
    destination: associatedTokenAddress(payTo, asset, token.program),
    authority,
    amount,
    decimals: token.decimals,
    program: token.program,
  };
}

/** The draft with instructions at its end. */
export function withLast(draft: Draft, ...more: TransactionInstruction[]): Draft {
  return { ...draft, instructions: [...draft.instructions, ...more] };
}

/** The draft with instructions before all others. */
export function withFirst(draft: Draft, ...more: TransactionInstruction[]): Draft {
  return { ...draft, instructions: [...more, ...draft.instructions] };
}

/** The draft with other instructions in place of its transfer. */
export function withTransfer(draft: Draft, ...instead: TransactionInstruction[]): Draft {
  return replaced(draft, 2, instead);
}

/** The draft with other instructions in place of its memo. */
export function withMemo(draft: Draft, ...instead: TransactionInstruction[]): Draft {
  return replaced(draft, 3, instead);
}

/** The draft with other instructions in place of its compute budget. */
export function withBudget(draft: Draft, ...instead: TransactionInstruction[]): Draft {
  const rest = draft.instructions.filter(({ programId }) => programId.toBase58() !== PROGRAMS.computeBudget);
  return { ...draft, instructions: [...instead, ...rest] };
}

function replaced(draft: Draft, position: number, instead: readonly TransactionInstruction[]): Draft {
  const { instructions } = draft;
  return {
    ...draft,
    instructions: [...instructions.slice(0, position), ...instead, ...instructions.slice(position + 1)],
  };
}
