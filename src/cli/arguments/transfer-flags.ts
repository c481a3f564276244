import { TollhouseError } from '../../errors/errors.js';
import { checkAsked, readAmount } from '../../facilitator/requests/create-request.js';
import { defined } from '../../lib/defined.js';
import { builtInToken, NATIVE_TOKEN, tokensNamed } from '../../protocol/networks/tokens.js';
import { UsageError } from '../command.js';

/** What is to be paid to whom, as it was typed. */
interface TransferFlags {
  /** In the token's own unit, decimal. */
  readonly amount: string;
  /** A symbol, or the address of a mint. */
  readonly token: string;
  readonly recipient: string;
  readonly memo: string | undefined;
}

/**
 * Refuses what every server would.
 * @param payer - the wallet that pays, base58; undefined where a link is asked for
 * @throws UsageError
 */
export function checkTransferFlags({ amount, token, recipient, memo }: TransferFlags, payer: string | undefined): void {
  if (payer === recipient) throw new UsageError('--recipient is the wallet that pays, and cannot pay itself');
  const decimals = decimalsOf(token, payer !== undefined) ?? (amount.split('.')[1] ?? '').length;
  try {
    checkAsked({ recipient, ...defined({ memo }) });
    readAmount(amount, { decimals });
  } catch (error) {
    // It begins with the name of the field, which is that of its flag.
    throw error instanceof TollhouseError ? new UsageError(`--${error.message}`) : error;
  }
}

/** By a symbol a server may mean a token of its own; a wallet of ours pays none but the one that is known here. */
function decimalsOf(token: string, isPaid: boolean): number | undefined {
  if (token.toUpperCase() === NATIVE_TOKEN.symbol) return NATIVE_TOKEN.decimals;
  return (builtInToken(token) ?? (isPaid ? tokensNamed(token)[0] : undefined))?.decimals;
}
