import { createHash } from 'node:crypto';
import { type CompleteSIWxInfo, encodeSIWxHeader, formatSIWSMessage } from '@x402/extensions/sign-in-with-x';
import type { SignInChallenge } from '../../../src/identity/types.js';
import { createEd25519Signer } from '../../../src/lib/ed25519/ed25519.js';
import { addressOf, signatureText } from '../../../src/protocol/address.js';

/** A wallet that signs texts. */
export interface WalletKey {
  readonly address: string;
  /** Signature of a text, base58. */
  sign(text: string): string;
}

/** The wallet of a name: the same name is the same wallet. */
export function walletKey(name: string): WalletKey {
  return walletKeyOf(createHash('sha256').update(name).digest());
}

/** The wallet of a 32-byte seed; the first half of a `Keypair`'s secret key is one. */
export function walletKeyOf(seed: Uint8Array): WalletKey {
  const { publicKey, sign } = createEd25519Signer(seed);
  return { address: addressOf(publicKey), sign: (text) => signatureText(sign(Buffer.from(text))) };
}

/** The fields of a sign-in that a challenge asks for, complete for the one chain that it names. */
export function signInInfo({ extensions }: SignInChallenge): CompleteSIWxInfo {
  const { info, supportedChains } = extensions['sign-in-with-x'] as {
    readonly info: CompleteSIWxInfo;
    readonly supportedChains: readonly [Pick<CompleteSIWxInfo, 'chainId' | 'type'>];
  };
  const { chainId, type } = supportedChains[0];
  return { ...info, chainId, type };
}

/** The header SIGN-IN-WITH-X of a wallet over these fields; `sent` changes fields after they were signed. */
export function signInHeader(wallet: WalletKey, info: CompleteSIWxInfo, sent: object = {}): string {
  const signature = wallet.sign(formatSIWSMessage(info, wallet.address));
  return encodeSIWxHeader({ ...info, address: wallet.address, signature, ...sent });
}
