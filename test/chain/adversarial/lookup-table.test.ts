import { AddressLookupTableAccount, Keypair, PublicKey } from '@solana/web3.js';
import { withLast } from '../../helpers/transactions/honest-draft.js';
import { type Scene, useArena } from '../../helpers/transactions/hostile.js';
import { guard } from '../../helpers/transactions/raw-instructions.js';

const arena = useArena();

function tableOf(...addresses: string[]): AddressLookupTableAccount {
  return new AddressLookupTableAccount({
    key: Keypair.generate().publicKey,
    state: {
      deactivationSlot: 2n ** 64n - 1n,
      lastExtendedSlot: 0,
      lastExtendedSlotStartIndex: 0,
      addresses: addresses.map((address) => new PublicKey(address)),
    },
  });
}

test.each([
  ['the destination', ({ transfer }: Scene) => transfer.destination],
  ['a key of ours', ({ secondKey }: Scene) => secondKey.publicKey.toBase58()],
])('a lookup table is refused, here with %s in it', (_name, hidden) =>
  arena().refuses({
    reason: 'invalid_exact_svm_payload_address_lookup_tables',
    hostile: (honest, scene) => ({
      ...withLast(honest, guard(5, [hidden(scene)])),
      lookupTables: [tableOf(hidden(scene))],
    }),
  }),
);

test('a lookup table that nothing is taken from is refused', () =>
  arena().refuses({
    reason: 'invalid_exact_svm_payload_address_lookup_tables',
    hostile: (honest) => ({
      ...honest,
      // One table in place of none, with no index of either kind.
      changeMessage: (message) =>
        Buffer.concat([message.subarray(0, -1), Buffer.of(1), Buffer.alloc(32, 7), Buffer.of(0, 0)]),
    }),
  }));
