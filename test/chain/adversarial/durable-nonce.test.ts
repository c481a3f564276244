import { Keypair, SystemProgram } from '@solana/web3.js';
import { withFirst, withLast } from '../../helpers/transactions/honest-draft.js';
import { useArena } from '../../helpers/transactions/hostile.js';

const arena = useArena();

test.each([
  ['first, where it makes the transaction live for ever', withFirst],
  ['last', withLast],
])('AdvanceNonceAccount is refused: %s', (_name, added) =>
  arena().refuses({
    reason: 'invalid_exact_svm_payload_durable_nonce',
    hostile: (honest, { payer }) => {
      const noncePubkey = Keypair.generate().publicKey;
      return added(honest, SystemProgram.nonceAdvance({ noncePubkey, authorizedPubkey: payer.publicKey }));
    },
  }),
);
