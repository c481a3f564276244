import { associatedTokenAddress } from '../../../src/solana/transaction/associated-token.js';
import { withTransfer } from '../../helpers/transactions/honest-draft.js';
import { type Arena, tokenNamed, useArena } from '../../helpers/transactions/hostile.js';
import { transferChecked } from '../../helpers/transactions/raw-instructions.js';

const arena = useArena();

test.each([
  ['another token of the seller', ({ facilitator }: Arena) => tokenNamed(facilitator, 'USDT').mint],
  ['a token that the payer made', ({ fixture }: Arena) => fixture.sandbox.createMint().mint],
])('a transfer of %s is refused', (_name, mintOf) =>
  arena().refuses({
    reason: 'invalid_exact_svm_payload_mint_mismatch',
    hostile: (honest, { fixture, terms, transfer }) => {
      const mint = mintOf(arena());
      fixture.sandbox.fundToken(terms.payTo, mint, 0n);
      const source = fixture.sandbox.fundToken(transfer.authority, mint, terms.amount);
      const destination = associatedTokenAddress(terms.payTo, mint, transfer.program);
      return withTransfer(honest, transferChecked({ ...transfer, mint, source, destination }));
    },
    wouldLand: true,
  }),
);
