import { VersionedTransaction } from '@solana/web3.js';
import { createMemoryLedger } from '../../../src/storage/ledger/memory-ledger.js';
import { useNativeFixture } from '../../helpers/fixtures/native-fixture.js';
import { ledgerWith } from '../../helpers/storage/ledgers.js';

const fixture = useNativeFixture();

test('who was so slow that another transaction took its place sends nothing, and says so', async () => {
  const { sandbox, payer, payTo } = fixture();
  const overtaken = ledgerWith(createMemoryLedger(), { recordBroadcast: async () => false });
  const facilitator = fixture().facilitatorWith({ ledger: overtaken });
  const { request, transfer } = await facilitator.createPayment({
    amount: '0.5',
    token: 'USDC',
    recipient: payTo,
    payer: payer.publicKey.toBase58(),
  });
  const transaction = VersionedTransaction.deserialize(transfer.transaction!);
  transaction.sign([payer]);
  sandbox.resetCalls();

  expect(await facilitator.settleRequest(request.id, transaction.serialize())).toEqual({ status: 'in_progress' });
  expect(sandbox.calls.sendTransaction).toBe(0);
});
