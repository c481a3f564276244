import { withTransfer } from '../../helpers/transactions/honest-draft.js';
import { tokenNamed, useArena } from '../../helpers/transactions/hostile.js';
import { instruction, transferChecked } from '../../helpers/transactions/raw-instructions.js';

const arena = useArena();

describe.each(['USDC', 'PYUSD'])('in place of a transfer of %s', (symbol) => {
  test.each([
    ['ApproveChecked', [13]],
    ['MintToChecked', [14]],
    ['BurnChecked', [15]],
    ['TransferCheckedWithFee', [26]],
    ['Batch, which holds instructions of its own', [255]],
    ['Transfer, which names no mint', [3]],
    ['TransferChecked without its decimals', [12], -1],
    ['TransferChecked with a byte too many', [12], 1],
    ['no data at all', [], -10],
  ])('%s is refused', (_name, [discriminator], growth = 0) =>
    arena().refuses({
      reason: 'invalid_exact_svm_payload_unknown_optional_instruction',
      terms: { asset: tokenNamed(arena().facilitator, symbol).mint },
      hostile: (honest, { transfer }) => {
        const { keys, data } = transferChecked(transfer);
        const shape = Buffer.concat([data, Buffer.alloc(1)]).subarray(0, data.length + growth);
        if (discriminator !== undefined) shape[0] = discriminator;
        const accounts = keys.map((key) => ({
          address: key.pubkey.toBase58(),
          signs: key.isSigner,
          written: key.isWritable,
        }));
        return withTransfer(honest, instruction(transfer.program, accounts, shape));
      },
    }),
  );
});

test('TransferChecked without its authority is refused', () =>
  arena().refuses({
    reason: 'invalid_exact_svm_payload_unknown_optional_instruction',
    hostile: (honest, { transfer }) => {
      const { data } = transferChecked(transfer);
      const { source, mint, destination, authority } = transfer;
      const signer = { address: authority, signs: true };
      return withTransfer(
        honest,
        instruction(transfer.program, [source, mint, destination], data),
        instruction(transfer.program, [signer], []),
      );
    },
  }));
