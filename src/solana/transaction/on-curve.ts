import { PublicKey } from '@solana/web3.js';
import { isAddress } from '../../protocol/address.js';

/** Whether an address is a point on the curve, so that somebody can hold its key; addresses of programs' accounts are not. */
export function isOnCurve(address: string): boolean {
  return isAddress(address) && PublicKey.isOnCurve(address);
}
