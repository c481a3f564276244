import { Keypair, PublicKey } from '@solana/web3.js';
import { PROGRAMS } from '../../../src/solana/transaction/programs.js';
import { withTransfer } from '../../helpers/honest-draft.js';
import { useArena } from '../../helpers/hostile.js';
import { multisigOf, multisigTransfer } from '../../helpers/multisig.js';

const arena = useArena();

test('a multisig account as authority is refused, even where the payer is its only signer', () =>
  arena().refuses({
    reason: 'invalid_exact_svm_payload_excessive_signers',
    hostile: (honest, { transfer, stand, terms }) => {
      const multisig = Keypair.generate().publicKey.toBase58();
      const signer = new PublicKey(transfer.authority);
      stand.sandbox.setAccount(multisig, multisigOf(signer, PROGRAMS.token));
      stand.sandbox.fundToken(multisig, terms.asset, terms.amount);
      return withTransfer(honest, multisigTransfer(multisig, transfer));
    },
    wouldLand: true,
  }));
