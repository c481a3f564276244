import { badOption } from '../../errors/errors.js';
import { shown } from '../../lib/parsed.js';
import { isAddress, isSignature } from '../../protocol/address.js';
import { addressText } from '../../protocol/address-input.js';
import { SYSTEM_ADDRESS } from '../../protocol/networks/tokens.js';
import type { Token } from '../../protocol/types.js';

/** What people paste instead of a wallet's address, and how it is known. */
const LOOKALIKES: readonly (readonly [RegExp, string])[] = [
  [/^0x[\da-f]{40}$/i, 'an address of Ethereum or Base: payments go to a wallet on Solana'],
  [/^[^\s@]+@[^\s@]+\.[^\s@]+$/, 'an e-mail address'],
  [/^[\w-]+\.(?:sol|eth)$/i, 'a name: look up the address that it stands for'],
  [/^\[?\s*\d+(?:\s*,\s*\d+){31,}\s*\]?$/, 'the bytes of a key, maybe a secret one: write the address of its wallet'],
  [/^(?:bc1|[13])[a-z\d]{25,62}$/i, 'an address of Bitcoin: payments go to a wallet on Solana'],
];
const WANTED = 'must be a Solana wallet address (base58, 32 bytes)';

/**
 * The recipient of a route, as base58 text.
 * @throws TollhouseError `bad_option` that says what was given instead of a wallet; never what a secret key is
 */
export function recipientOf(where: string, payTo: unknown, tokens: readonly Token[]): string {
  const text = addressText(payTo);
  const fault = text === undefined ? otherFault(payTo) : textFault(text, tokens);
  if (fault !== undefined || text === undefined) throw badOption(where, `option "payTo" ${WANTED}, ${fault}`, 'payTo');
  return text;
}

function textFault(payTo: string, tokens: readonly Token[]): string | undefined {
  const token = tokens.find(({ mint }) => mint === payTo);
  if (token !== undefined)
    return `not the mint of ${token.symbol}: name the wallet that receives, the price names the token`;
  const program = tokens.find((it) => it.program === payTo);
  if (program !== undefined) return 'not a token program';
  if (payTo === SYSTEM_ADDRESS) return 'not the address of the System Program, which an empty public key has';
  if (isAddress(payTo)) return undefined;
  // As long as a transaction's signature, so that it may be the secret that it looks like.
  if (isSignature(payTo)) return 'not a secret key or a signature: write the public address';
  if (payTo !== payTo.trim() && isAddress(payTo.trim())) return `and has spaces around it: ${shown(payTo)}`;
  const lookalike = LOOKALIKES.find(([pattern]) => pattern.test(payTo.trim()))?.[1];
  return lookalike === undefined ? `not ${shown(payTo)}` : `not ${lookalike}`;
}

function otherFault(payTo: unknown): string {
  const isKeypair = addressText(Reflect.get(Object(payTo), 'publicKey')) !== undefined;
  return isKeypair ? 'not a key pair: write payTo.publicKey' : `not ${shown(payTo)}`;
}
