import { Keypair } from '@solana/web3.js';
import { associatedTokenAddress } from '../../../src/solana/transaction/associated-token.js';
import { PROGRAMS } from '../../../src/solana/transaction/programs.js';
import { withTransfer } from '../../helpers/transactions/honest-draft.js';
import { type Scene, useArena } from '../../helpers/transactions/hostile.js';
import { transferChecked } from '../../helpers/transactions/raw-instructions.js';

const arena = useArena();

/** A token account that belongs to the seller and is not the associated one. */
function secondAccountOfSeller({ fixture, transfer }: Scene): string {
  const account = Keypair.generate().publicKey.toBase58();
  fixture.sandbox.setAccount(account, fixture.sandbox.account(transfer.destination)!);
  return account;
}

const DESTINATIONS: readonly [string, boolean, (scene: Scene) => string][] = [
  ["the payer's own account", true, ({ transfer }) => transfer.source],
  [
    'the account of somebody else',
    true,
    ({ fixture, terms }) => fixture.sandbox.fundToken(Keypair.generate().publicKey.toBase58(), terms.asset, 0n),
  ],
  ['another token account of the seller', true, secondAccountOfSeller],
  [
    "the seller's associated account under the other token program",
    false,
    ({ terms }) => associatedTokenAddress(terms.payTo, terms.asset, PROGRAMS.token2022),
  ],
  ["the seller's wallet itself", false, ({ terms }) => terms.payTo],
];

test.each(DESTINATIONS)('a transfer to %s is refused', (_name, wouldLand, destinationOf) =>
  arena().refuses({
    reason: 'invalid_exact_svm_payload_recipient_mismatch',
    hostile: (honest, scene) =>
      withTransfer(honest, transferChecked({ ...scene.transfer, destination: destinationOf(scene) })),
    wouldLand,
  }),
);
