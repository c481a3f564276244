import { MULTISIG_SIZE, MultisigLayout } from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import type { RuntimeAccount } from '../../../src/sandbox/runtime/runtime.js';
import { associatedTokenAddress } from '../../../src/solana/transaction/associated-token.js';
import { instruction, type TransferParts, transferChecked } from './raw-instructions.js';

/** A multisig account of a token program for which one signature, that of `signer`, is enough. */
export function multisigOf(signer: PublicKey, program: string): RuntimeAccount {
  const data = Buffer.alloc(MULTISIG_SIZE);
  const none = PublicKey.default;
  const some = { signer2: none, signer3: none, signer4: none, signer5: none, signer6: none };
  const others = { signer7: none, signer8: none, signer9: none, signer10: none, signer11: none };
  MultisigLayout.encode({ m: 1, n: 1, isInitialized: true, signer1: signer, ...some, ...others }, data);
  return { lamports: 10_000_000n, owner: program, data, executable: false };
}

/** The transfer from the token account of a multisig account, for which the authority that it names signs. */
export function multisigTransfer(multisig: string, transfer: TransferParts) {
  const accounts = [
    { address: associatedTokenAddress(multisig, transfer.mint, transfer.program), written: true },
    transfer.mint,
    { address: transfer.destination, written: true },
    multisig,
    { address: transfer.authority, signs: true },
  ];
  return instruction(transfer.program, accounts, transferChecked(transfer).data);
}
