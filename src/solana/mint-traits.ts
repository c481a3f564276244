import {
  ExtensionType,
  getExtensionTypes,
  getTransferFeeConfig,
  getTransferHook,
  type Mint,
  unpackMint,
} from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import type { AccountState } from './rpc.js';

/** What the extensions of a Token-2022 mint mean for who is paid in it. */
export interface MintTraits {
  /** A fee or a hook stands between the amount sent and the amount received. */
  readonly altersTransfers: boolean;
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
  const takesFee =
    fee !== null && [fee.olderTransferFee, fee.newerTransferFee].some((it) => it.transferFeeBasisPoints > 0);
  const hook = getTransferHook(mint);
  const hooked = hook !== null && !hook.programId.equals(PublicKey.default);
  return {
    altersTransfers: takesFee || hooked,
    issuerPowers: getExtensionTypes(mint.tlvData).some((it) => POWERS.has(it)),
  };
}
