import {
  ExtensionType,
  getExtensionTypes,
  getTransferFeeConfig,
  getTransferHook,
  type Mint,
  unpackMint,
} from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import type { AccountState } from '../rpc/rpc.js';

/** What the extensions of a Token-2022 mint mean for who is paid in it. */
export interface MintTraits {
  /** A fee is kept of what is sent, in this epoch or one of the next, so that less arrives. */
  readonly keepsFee: boolean;
  /** Each transfer calls a program of the issuer's choice. */
  readonly callsHook: boolean;
  /** The issuer can take tokens back or hide amounts. */
  readonly issuerPowers: boolean;
}

const POWERS: ReadonlySet<ExtensionType> = new Set([
  ExtensionType.PermanentDelegate,
  ExtensionType.ConfidentialTransferMint,
  ExtensionType.NonTransferable,
]);

/** Reads the traits of a mint from its account. Throws when the account is no mint. */
export function readMintTraits(address: string, { owner, data }: AccountState): MintTraits {
  const info = { data: Buffer.from(data), owner: new PublicKey(owner), executable: false, lamports: 0 };
  return traitsOf(unpackMint(new PublicKey(address), info, info.owner));
}

function traitsOf(mint: Mint): MintTraits {
  const fee = getTransferFeeConfig(mint);
  const fees = fee === null ? [] : [fee.olderTransferFee, fee.newerTransferFee];
  const hook = getTransferHook(mint);
  return {
    keepsFee: fees.some((it) => it.transferFeeBasisPoints > 0 && it.maximumFee > 0n),
    callsHook: hook !== null && !hook.programId.equals(PublicKey.default),
    issuerPowers: getExtensionTypes(mint.tlvData).some((it) => POWERS.has(it)),
  };
}
