import { isAddress } from '../../protocol/address.js';
import { MAX_AMOUNT } from '../../protocol/limits.js';
import { parseDecimal } from '../../protocol/money/money.js';
import { builtInToken, tokensNamed } from '../../protocol/networks/tokens.js';
import { checkDemand } from '../../solana/rules/native-checks.js';
import { NATIVE_SOL, PROGRAMS } from '../../solana/transaction/programs.js';
import { type DecodedTransaction, decodeTransaction } from '../../solana/transaction/transaction.js';
import { CommandError } from '../command.js';

/** What somebody has asked to pay, in his own words. */
export interface AskedTransfer {
  /** In the token's own unit, decimal. */
  readonly amount: string;
  /** A symbol, or the address of a mint. */
  readonly token: string;
  /** Wallet, base58. */
  readonly recipient: string;
  readonly memo: string | undefined;
}

interface Asset {
  /** Mint, base58; NATIVE_SOL for SOL. */
  readonly asset: string;
  readonly tokenProgram: string;
  readonly decimals: number;
}

/**
 * Holds what a server has had signed against what was asked to be paid, before anybody is given it: one transfer of the wallet's, and
 * whatever has to be there for it, such as the account that the recipient is paid to.
 * @param signed - by the wallet
 * @throws CommandError where it does anything else
 */
export function requireAskedTransfer(signed: Uint8Array, asked: AskedTransfer, wallet: string): void {
  const decoded = decodeTransaction(signed);
  if (!decoded.ok) throw unlike(asked, decoded.detail);
  const { transaction } = decoded;
  const [feePayer = ''] = transaction.accounts;
  if (feePayer === wallet) throw unlike(asked, 'its network fee is to be paid by your wallet');
  const kinds = transaction.plain.map(({ kind }) => kind);
  if (kinds.includes('guard')) throw unlike(asked, 'it has another program called');
  // At an exchange a memo says whose money it is.
  if (asked.memo === undefined && kinds.includes('memo')) throw unlike(asked, 'it has a memo');
  // Whoever pays the network fee has his own bound on it.
  const policy = { managedKeys: new Set([feePayer]), maxFeeLamports: MAX_AMOUNT };
  const found = assetsOf(asked, transaction).map((it) => checkDemand(transaction, demandOf(asked, it), policy));
  if (found.some((it) => it.ok && it.payer === wallet)) return;
  const [first] = found;
  throw unlike(asked, first === undefined || first.ok ? 'it moves something else' : first.message.replace(/\.$/, ''));
}

function demandOf({ amount, recipient, memo }: AskedTransfer, { decimals, ...asset }: Asset) {
  const atomic = parseDecimal(amount, decimals);
  if (!atomic.ok) throw new CommandError(`--amount ${amount}: ${atomic.detail}; nothing was sent`);
  return { ...asset, legs: [{ recipient, amount: atomic.value }], reference: undefined, memo };
}

/** What a symbol may stand for, on whichever network the server works, or the very mint that was named. */
function assetsOf({ token }: AskedTransfer, transaction: DecodedTransaction): readonly Asset[] {
  if (token.toUpperCase() === 'SOL') return [{ asset: NATIVE_SOL, tokenProgram: NATIVE_SOL, decimals: 9 }];
  if (isAddress(token)) return namedMint(token, transaction);
  const known = tokensNamed(token);
  if (known.length === 0) {
    throw new CommandError(
      `--token ${token}: which mint that is would be the server's word alone; name the address of the mint. Nothing was paid`,
    );
  }
  return known.map(({ mint: asset, program: tokenProgram, decimals }) => ({ asset, tokenProgram, decimals }));
}

const TRANSFER_CHECKED = 12;
const DECIMALS_AT = 9;

/** The decimals of a mint that is not known are taken from the transfer: with others than the mint has it fails on the chain. */
function namedMint(mint: string, { instructions }: DecodedTransaction): readonly Asset[] {
  const known = builtInToken(mint);
  if (known !== undefined) return [{ asset: mint, tokenProgram: known.program, decimals: known.decimals }];
  return [PROGRAMS.token, PROGRAMS.token2022].flatMap((tokenProgram) =>
    instructions
      .filter((it) => it.program === tokenProgram && it.data[0] === TRANSFER_CHECKED && it.data.length > DECIMALS_AT)
      .map(({ data }) => ({ asset: mint, tokenProgram, decimals: data[DECIMALS_AT] ?? 0 })),
  );
}

function unlike({ amount, token, recipient }: AskedTransfer, what: string): CommandError {
  return new CommandError(
    `the server has prepared something else than a payment of ${amount} ${token} to ${recipient}, and asks your wallet to sign it: ${what}. Nothing was sent`,
  );
}
