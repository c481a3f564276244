import { z } from 'zod';
import { isAddress } from './address.js';

/** An address as it may be given: base58 text, or a `PublicKey` of web3.js, of whatever copy of it. */
export type AddressInput = string | { toBase58(): string };

/** The base58 text of an {@link AddressInput}, whether it is an address or not; undefined for anything else. */
export function addressText(input: unknown): string | undefined {
  if (typeof input === 'string') return input;
  const text: unknown = isKey(input) ? input.toBase58() : undefined;
  return typeof text === 'string' ? text : undefined;
}

/**
 * Schema of an option that is an address or, where `isAddress` is not asked for, a symbol. It answers the text.
 * @param message - what the option must be
 */
export function addressTextOption(message: string) {
  return z
    .custom<AddressInput>((it) => addressText(it) !== undefined, message)
    .transform((it) => addressText(it) ?? '');
}

/** Schema of an option that is an address. It returns its text. */
export function addressOption(message: string) {
  return addressTextOption(message).refine(isAddress, message);
}

function isKey(input: unknown): input is { toBase58(): unknown } {
  return typeof input === 'object' && input !== null && typeof Reflect.get(input, 'toBase58') === 'function';
}
