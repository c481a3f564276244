import { Keypair, PublicKey } from '@solana/web3.js';
import { PROGRAMS } from '../../../src/solana/transaction/programs.js';
import { withTransfer } from '../../helpers/transactions/honest-draft.js';
import { useArena } from '../../helpers/transactions/hostile.js';
import { multisigOf, multisigTransfer } from '../../helpers/transactions/multisig.js';

const arena = useArena();

test('a multisig account as authority is refused, even where the payer is its only signer', () =>
  arena().refuses({
    reason: 'invalid_exact_svm_payload_excessive_signers',
    hostile: (honest, { transfer, fixture, terms }) => {
      const multisig = Keypair.generate().publicKey.toBase58();
      const signer = new PublicKey(transfer.authority);
      fixture.sandbox.setAccount(multisig, multisigOf(signer, PROGRAMS.token));
      fixture.sandbox.fundToken(multisig, terms.asset, terms.amount);
      return withTransfer(honest, multisigTransfer(multisig, transfer));
    },
    wouldLand: true,
  }));
