import { TollhouseError } from '../../errors/errors.js';
import { TOKEN_HEAD_BYTES, tokenAccountOf } from '../../solana/accounts/token-accounts.js';
import type { AccountState, SolanaRpc } from '../../solana/rpc/rpc.js';
import { associatedTokenAddress } from '../../solana/transaction/associated-token.js';
import { isTokenProgram, NATIVE_SOL } from '../../solana/transaction/programs.js';
import type { PaymentRequestRecord } from '../../storage/ledger/payment-request.js';
import { online } from '../backend/chain-landing.js';

/** Owners of accounts that nobody can spend from: programs, and what the runtime keeps. */
const NOT_WALLETS: ReadonlySet<string> = new Set([
  'NativeLoader1111111111111111111111111111111',
  'BPFLoader1111111111111111111111111111111111',
  'BPFLoader2111111111111111111111111111111111',
  'BPFLoaderUpgradeab1e11111111111111111111111',
  'LoaderV411111111111111111111111111111111111',
  'Sysvar1111111111111111111111111111111111111',
]);

/**
 * Looks at the recipients of a request, with one call. Answers those whose token account must be created. Rejects with
 * `invalid_recipient` where the money would be lost: sent to a token account, a mint or a program as if it were a
 * wallet, or into a token account that has passed to another wallet.
 */
export async function readRecipients(
  { token, legs }: Pick<PaymentRequestRecord, 'token' | 'legs'>,
  rpc: SolanaRpc,
): Promise<ReadonlySet<string>> {
  const recipients = [...new Set(legs.map(({ recipient }) => recipient))];
  const isSol = token.mint === NATIVE_SOL;
  const receiving = isSol ? [] : recipients.map((it) => associatedTokenAddress(it, token.mint, token.program));
  const accounts = await online(rpc.getAccounts([...recipients, ...receiving], 'confirmed', TOKEN_HEAD_BYTES));
  for (const [index, recipient] of recipients.entries()) {
    const wrong = walletFault(recipient, accounts[index] ?? null);
    if (wrong !== undefined) throw fault(wrong);
  }
  if (isSol) return new Set();
  return new Set(recipients.filter((it, index) => !hasTokenAccount(it, accounts[recipients.length + index] ?? null)));
}

/** Why nobody could spend what is sent to an address as a wallet; undefined when nothing speaks against it. */
export function walletFault(recipient: string, account: AccountState | null): string | undefined {
  if (account === null) return undefined;
  if (isTokenProgram(account.owner)) return `${recipient} is a token account or a mint; name the wallet that owns it`;
  return NOT_WALLETS.has(account.owner)
    ? `${recipient} is a program's address, from which nobody can spend`
    : undefined;
}

function hasTokenAccount(recipient: string, account: AccountState | null): boolean {
  const found = tokenAccountOf(account);
  if (found !== undefined && found.owner !== recipient) {
    throw fault(`the token account of ${recipient} belongs to another wallet now`);
  }
  return found !== undefined;
}

function fault(what: string): TollhouseError {
  return new TollhouseError('invalid_recipient', what, { param: 'recipient' });
}
