import { Connection, Keypair, type TransactionInstruction } from '@solana/web3.js';
import fc from 'fast-check';
import { type Sandbox, startSandbox } from '../../../../src/sandbox/start-sandbox.js';
import { readInstruction } from '../../../../src/solana/transaction/instructions.js';
import { networkFee } from '../../../../src/solana/transaction/network-fee.js';
import { decodeTransaction } from '../../../../src/solana/transaction/transaction.js';
import { buildDraft } from '../../../helpers/transactions/draft.js';
import { guard, memo, unitLimit, unitPrice } from '../../../helpers/transactions/raw-instructions.js';

let sandbox: Sandbox;
let wallet: Keypair;
let blockhash: string;

beforeAll(async () => {
  sandbox = await startSandbox({ slotMs: 0 });
  wallet = await sandbox.createWallet({ sol: '1000000' });
  const latest = await new Connection(sandbox.rpcUrl, 'confirmed').getLatestBlockhash();
  blockhash = latest.blockhash;
});
afterAll(() => sandbox.close());

/** What the runtime took for a transaction, and what we say it can take at most. */
async function feesOf(instructions: readonly TransactionInstruction[]): Promise<{ charged: bigint; said: bigint }> {
  const feePayer = wallet.publicKey.toBase58();
  const unique = memo(Keypair.generate().publicKey.toBase58());
  const parts = [...instructions, unique];
  const bytes = buildDraft({ version: 0, feePayer, blockhash, instructions: parts, signers: [wallet] });
  const result = decodeTransaction(bytes);
  if (!result.ok) throw new Error(result.detail);
  const { requiredSignatures, instructions: read } = result.transaction;

  const before = sandbox.balance(feePayer);
  const connection = new Connection(sandbox.rpcUrl, 'confirmed');
  await connection.sendRawTransaction(bytes, { skipPreflight: true });
  const charged = before - sandbox.balance(feePayer);
  expect(charged).toBeGreaterThan(0n);
  return { charged, said: networkFee(requiredSignatures, read.map(readInstruction)) };
}

const price = fc.bigInt({ min: 0n, max: 10n ** 12n });
const limit = fc.oneof(fc.nat({ max: 2_000_000 }), fc.constantFrom(0, 1, 1_400_000, 1_400_001, 0xffff_ffff));
const extras = fc.array(fc.constantFrom(guard(2), guard(10), memo('more')), { maxLength: 6 });

test('the fee that is reckoned with is never below what the runtime charges', async () => {
  const budget = fc.tuple(fc.option(limit, { nil: undefined }), fc.option(price, { nil: undefined }), fc.boolean());
  await fc.assert(
    fc.asyncProperty(budget, extras, async ([units, micro, priceFirst], others) => {
      const asked = [
        ...(units === undefined ? [] : [unitLimit(units)]),
        ...(micro === undefined ? [] : [unitPrice(micro)]),
      ];
      const { charged, said } = await feesOf([...(priceFirst ? asked.reverse() : asked), ...others]);
      expect(said).toBeGreaterThanOrEqual(charged);
    }),
    { numRuns: 150 },
  );
});

test.each([
  ['no compute budget', [], 5_000n],
  ['a price of nothing', [unitPrice(0n)], 5_000n],
  ['a price that comes to less than a lamport, rounded up', [unitLimit(20_000), unitPrice(1n)], 5_001n],
  ['limit times price', [unitLimit(20_000), unitPrice(1_000_000n)], 25_000n],
  ['a limit beyond the largest', [unitLimit(0xffff_ffff), unitPrice(1_000_000n)], 1_405_000n],
  ['the default limit: 200,000 for the memo, 3,000 for the price', [unitPrice(1_000_000n)], 208_000n],
])('the fee is exactly what the runtime charges: %s', async (_name, budget, expected) => {
  expect(await feesOf(budget)).toEqual({ charged: expected, said: expected });
});

test('the largest price and limit do not overflow', () => {
  const instructions = [unitLimit(0xffff_ffff), unitPrice(2n ** 64n - 1n)].map(({ programId, data }) =>
    readInstruction({ program: programId.toBase58(), accounts: [], data }),
  );
  const priority = ((2n ** 64n - 1n) * 1_400_000n + 999_999n) / 1_000_000n;
  expect(networkFee(2, instructions)).toBe(10_000n + priority);
});
