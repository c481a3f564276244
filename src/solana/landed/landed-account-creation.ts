import type { LandedTransaction } from '../rpc/landed-transaction.js';
import { readInstruction } from '../transaction/instructions.js';

/** Token accounts that somebody has made, and what they cost him. */
export interface AccountCreation {
  /** How many there were not before. */
  readonly accounts: number;
  /** Network fee and rent. */
  readonly lamports: bigint;
}

/**
 * What a transaction cost its one signer that does nothing but make associated token accounts; undefined where it may do more, or
 * failed. That some are there already costs nothing but the fee.
 */
export function accountCreation(landed: LandedTransaction): AccountCreation | undefined {
  const made = accountsMade(landed);
  const [feePayer = ''] = landed.accounts;
  const paid = landed.lamports.get(feePayer);
  if (made === undefined || paid === undefined) return undefined;
  let [accounts, rent] = [0, 0n];
  for (const [address, { before, after }] of landed.lamports) {
    if (address === feePayer || before === after) continue;
    if (!made.has(address) || after < before) return undefined;
    accounts += 1;
    rent += after - before;
  }
  const lamports = paid.before - paid.after;
  return lamports === landed.feeLamports + rent ? { accounts, lamports } : undefined;
}

/**
 * What the signed instructions name as made. The inner ones are those of the program of associated token accounts, which gives an
 * account its rent and no more: what else is put into one, or taken, takes an instruction of its own.
 */
function accountsMade(landed: LandedTransaction): ReadonlySet<string> | undefined {
  if (landed.err !== null || landed.requiredSignatures !== 1) return undefined;
  const made = new Set<string>();
  for (const it of landed.signedInstructions.map(readInstruction)) {
    if (it.kind === 'create-token-account') made.add(it.account);
    else if (it.kind !== 'compute-limit' && it.kind !== 'compute-price') return undefined;
  }
  return made.size > 0 && !hasMoved(landed, made) ? made : undefined;
}

function hasMoved({ tokenAccounts }: LandedTransaction, made: ReadonlySet<string>): boolean {
  return [...tokenAccounts].some(([address, { before, after }]) => before !== after && !made.has(address));
}
