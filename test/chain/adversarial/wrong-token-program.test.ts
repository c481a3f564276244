import { associatedTokenAddress } from '../../../src/solana/transaction/associated-token.js';
import { PROGRAMS } from '../../../src/solana/transaction/programs.js';
import { withTransfer } from '../../helpers/transactions/honest-draft.js';
import { useArena } from '../../helpers/transactions/hostile.js';
import { transferChecked } from '../../helpers/transactions/raw-instructions.js';

const arena = useArena();

test('a transfer of an SPL token through Token-2022 is refused', () =>
  arena().refuses({
    reason: 'invalid_exact_svm_mint_unknown',
    refusedBy: 'chain',
    hostile: (honest, { transfer, terms }) => {
      const program = PROGRAMS.token2022;
      const source = associatedTokenAddress(transfer.authority, terms.asset, program);
      const destination = associatedTokenAddress(terms.payTo, terms.asset, program);
      return withTransfer(honest, transferChecked({ ...transfer, program, source, destination }));
    },
  }));

test('a transfer with the decimals of another token is refused', () =>
  arena().refuses({
    reason: 'invalid_exact_svm_transaction_simulation_failed',
    refusedBy: 'chain',
    hostile: (honest, { transfer }) => withTransfer(honest, transferChecked({ ...transfer, decimals: 9 })),
  }));
