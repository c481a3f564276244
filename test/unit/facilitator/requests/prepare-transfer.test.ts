import { outlineTransfer, prepareTransfer } from '../../../../src/facilitator/requests/prepare-transfer.js';
import { createBlockhashCache } from '../../../../src/solana/confirmation/blockhash-cache.js';
import { RpcError } from '../../../../src/solana/rpc/rpc.js';
import { NATIVE_SOL } from '../../../../src/solana/transaction/programs.js';
import { fakeNode, rejectionOf } from '../../../helpers/nodes/fake-node.js';
import { requestOf } from '../../../helpers/request-parts.js';
import { walletKey } from '../../../helpers/transactions/wallet-key.js';

const [payer, feePayer, blockhash, mint] = ['payer', 'fee payer', 'blockhash', 'mint'].map(
  (name) => walletKey(name).address,
) as [string, string, string, string];
const token = { symbol: 'T', mint, decimals: 6, program: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' };
const MANY = Array.from({ length: 8 }, (_, index) => walletKey(`recipient ${index}`).address);

const rpc = fakeNode({ getLatestBlockhash: async () => ({ blockhash, lastValidBlockHeight: 9 }) });

const prepare = (request: ReturnType<typeof requestOf>, missing: readonly string[], node = rpc) =>
  prepareTransfer(request, { payer, feePayer }, new Set(missing), {
    rpc: node,
    blockhashes: createBlockhashCache({ rpc: node }),
  });

test('a transfer is complete but for the signatures; without a payer it is an outline', async () => {
  const { transaction, ...transfer } = await prepare(requestOf(), []);
  expect(transaction?.length).toBeGreaterThan(100);
  expect(transfer).toMatchObject({ from: payer, feePayer });
  const outline = await outlineTransfer(requestOf(), feePayer, new Set());
  expect(outline).toStrictEqual({ from: NATIVE_SOL, instructions: expect.anything(), feePayer });
  expect(outline.instructions).toHaveLength(transfer.instructions.length);
});

test.each([
  [MANY, ', or let the 8 of them without a token account create it first'],
  [MANY.slice(0, 1), ', or let the 1 of them without a token account create it first'],
  [[], ''],
])('one that does not fit says what helps, with %j still to be created', async (missing, hint) => {
  const legs = MANY.map((recipient) => ({ recipient, amount: 1n }));
  const request = requestOf({ token, legs, memo: 'x'.repeat(600) });
  expect(await rejectionOf(prepare(request, missing))).toMatchObject({
    code: 'invalid_split',
    message: `split does not fit into one transaction: name fewer recipients, or a shorter memo${hint}`,
    context: { param: 'split' },
  });
});

test('an outage is told as one', async () => {
  const down = fakeNode({ getLatestBlockhash: () => Promise.reject(new RpcError('unreachable', 'gone')) });
  expect(await rejectionOf(prepare(requestOf(), [], down))).toMatchObject({ code: 'payment_backend_unavailable' });
});
