import { MULTISIG_SIZE, MultisigLayout } from '@solana/spl-token';
import { Keypair, PublicKey } from '@solana/web3.js';
import { PROGRAMS } from '../../../src/solana/programs.js';
import { withTransfer } from '../../helpers/honest-draft.js';
import { type Scene, useArena } from '../../helpers/hostile.js';
import { instruction, transferChecked } from '../../helpers/raw-instructions.js';

const arena = useArena();

/** A multisig account of the token program for which one signature, the payer's, is enough. */
function multisigOf({ stand, payer }: Scene): string {
  const data = Buffer.alloc(MULTISIG_SIZE);
  const none = PublicKey.default;
  const [s2, s3, s4, s5, s6, s7, s8, s9, s10, s11] = Array.from({ length: 10 }, () => none);
  const others = { signer2: s2!, signer3: s3!, signer4: s4!, signer5: s5!, signer6: s6!, signer7: s7! };
  const more = { signer8: s8!, signer9: s9!, signer10: s10!, signer11: s11! };
  MultisigLayout.encode({ m: 1, n: 1, isInitialized: true, signer1: payer.publicKey, ...others, ...more }, data);
  const address = Keypair.generate().publicKey.toBase58();
  stand.sandbox.setAccount(address, { lamports: 10_000_000n, owner: PROGRAMS.token, data, executable: false });
  return address;
}

test('a multisig account as authority is refused, even where the payer is its only signer', () =>
  arena().refuses({
    reason: 'invalid_exact_svm_payload_excessive_signers',
    hostile: (honest, scene) => {
      const { transfer, stand, terms } = scene;
      const authority = multisigOf(scene);
      const source = stand.sandbox.fundToken(authority, terms.asset, terms.amount);
      const { data } = transferChecked(transfer);
      const accounts = [
        { address: source, written: true },
        transfer.mint,
        { address: transfer.destination, written: true },
        authority,
        { address: transfer.authority, signs: true },
      ];
      return withTransfer(honest, instruction(transfer.program, accounts, data));
    },
    wouldLand: true,
  }));
