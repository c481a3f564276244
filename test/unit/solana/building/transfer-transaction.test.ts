import { ComputeBudgetProgram, Keypair, PublicKey, SystemProgram } from '@solana/web3.js';
import {
  createSplitWallet,
  legAt,
  type PayoutPlan,
  payoutTransaction,
} from '../../../../src/solana/building/payout-transaction.js';
import {
  instructionsJson,
  type TransferPlan,
  transferInstructions,
  unsignedTransaction,
} from '../../../../src/solana/building/transfer-transaction.js';
import { associatedTokenAddress } from '../../../../src/solana/transaction/associated-token.js';
import { PROGRAMS } from '../../../../src/solana/transaction/programs.js';
import { decodeTransaction } from '../../../../src/solana/transaction/transaction.js';
import { signatureBy } from '../../../helpers/transactions/draft.js';
import { memo, transferChecked, unitLimit } from '../../../helpers/transactions/raw-instructions.js';

const fresh = () => Keypair.generate().publicKey.toBase58();
const wallet = Keypair.generate();
const PAYER = wallet.publicKey.toBase58();
const [SELLER, PARTNER, MINT, REFERENCE, FEE_PAYER, BLOCKHASH] = Array.from({ length: 6 }, fresh) as [
  string,
  string,
  string,
  string,
  string,
  string,
];
const LEGS = [
  { recipient: SELLER, amount: 5n },
  { recipient: PARTNER, amount: 7n },
];
const TOKENS: TransferPlan = {
  asset: MINT,
  tokenProgram: PROGRAMS.token2022,
  decimals: 2,
  legs: LEGS,
  reference: undefined,
  memo: undefined,
  accountsToCreate: new Set(),
};
const SOL: TransferPlan = { ...TOKENS, asset: PROGRAMS.system };
const REFERENCE_KEY = { pubkey: new PublicKey(REFERENCE), isSigner: false, isWritable: false };

const accountOf = (owner: string) => associatedTokenAddress(owner, MINT, PROGRAMS.token2022);

function tokenTransfer(recipient: string, amount: bigint) {
  const parts = { source: accountOf(PAYER), mint: MINT, destination: accountOf(recipient), authority: PAYER };
  return transferChecked({ ...parts, amount, decimals: 2, program: PROGRAMS.token2022 });
}

function solTransfer(recipient: string, lamports: bigint) {
  return SystemProgram.transfer({ fromPubkey: wallet.publicKey, toPubkey: new PublicKey(recipient), lamports });
}

const PRICE = ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1 });

test.each([
  ['tokens', TOKENS, tokenTransfer],
  ['SOL', SOL, solTransfer],
])('a plan is its compute budget and a transfer for each leg: %s', (_what, plan, transfer) => {
  const transfers = LEGS.map(({ recipient, amount }) => transfer(recipient, amount));
  expect(transferInstructions(plan, PAYER)).toEqual([unitLimit(65_000), PRICE, ...transfers]);
});

test('the reference is named by the first transfer alone, read-only, and the memo comes last', () => {
  const plan = { ...TOKENS, reference: REFERENCE, memo: 'order 7' };
  const [first, second] = LEGS.map(({ recipient, amount }) => tokenTransfer(recipient, amount));
  first!.keys.push(REFERENCE_KEY);
  expect(transferInstructions(plan, PAYER)).toEqual([unitLimit(65_000), PRICE, first, second, memo('order 7')]);
});

test('accounts that are missing are created before the transfers, with units for each', () => {
  const plan = { ...TOKENS, accountsToCreate: new Set([PARTNER, SELLER]) };
  const [limit, price, ...rest] = transferInstructions(plan, PAYER);
  expect([limit, price]).toEqual([unitLimit(185_000), PRICE]);
  const created = (owner: string) => [PAYER, accountOf(owner), owner, MINT, PROGRAMS.system, PROGRAMS.token2022];
  expect(rest.slice(0, 2).map(({ keys }) => keys.map(({ pubkey }) => pubkey.toBase58()))).toEqual(
    [PARTNER, SELLER].map(created),
  );
  expect(rest.slice(2)).toEqual(LEGS.map(({ recipient, amount }) => tokenTransfer(recipient, amount)));
});

test('as JSON an instruction has its addresses in base58 and its data in base64', () => {
  const transfer = solTransfer(SELLER, 5n);
  expect(instructionsJson([transfer, memo('order 7', [REFERENCE])])).toEqual([
    {
      programId: PROGRAMS.system,
      keys: [
        { pubkey: PAYER, isSigner: true, isWritable: true },
        { pubkey: SELLER, isSigner: false, isWritable: true },
      ],
      data: transfer.data.toString('base64'),
    },
    {
      programId: PROGRAMS.memo,
      keys: [{ pubkey: REFERENCE, isSigner: false, isWritable: false }],
      data: Buffer.from('order 7').toString('base64'),
    },
  ]);
});

test('what does not fit into 1,232 bytes is no transaction, down to the byte', () => {
  const sizes = Array.from(
    { length: 700 },
    (_, index) => unsignedTransaction([memo('x'.repeat(700 + index))], FEE_PAYER, BLOCKHASH)?.length,
  );
  const fitting = sizes.filter((size) => size !== undefined);
  expect(fitting).toEqual(fitting.map((_, index) => fitting[0]! + index));
  expect(fitting.at(-1)).toBe(1_232);
  expect(sizes.slice(fitting.length)).toEqual(Array.from({ length: 700 - fitting.length }, () => undefined));
});

test('whatever else is wrong is thrown', () => {
  expect(() => unsignedTransaction([memo('')], FEE_PAYER, 'no blockhash')).toThrow('Non-base58 character');
});

const PAYOUT: PayoutPlan = {
  id: 'po_1',
  mint: MINT,
  tokenProgram: PROGRAMS.token2022,
  decimals: 2,
  legs: LEGS,
  feePayer: FEE_PAYER,
  blockhash: BLOCKHASH,
};

test('a payout is signed by the wallet that holds what is owed, and the slot of the fee payer stays empty', async () => {
  const plan = { ...TOKENS, memo: PAYOUT.id };
  const bytes = unsignedTransaction(transferInstructions(plan, PAYER), FEE_PAYER, BLOCKHASH)!;
  const expected = decodeTransaction(bytes);
  const message = expected.ok ? expected.transaction.message : new Uint8Array();

  const unsigned = await payoutTransaction(PAYOUT, PAYER);
  expect(Buffer.from(unsigned.bytes).equals(bytes)).toBe(true);
  const signed = await createSplitWallet(wallet, 'here', 'splitKeypair').sign(PAYOUT);
  expect(Buffer.from(signed.message).equals(message)).toBe(true);
  expect(signed.signatures.map((it) => Uint8Array.from(it))).toEqual([
    new Uint8Array(64),
    Uint8Array.from(signatureBy(wallet, message)),
  ]);
});

test('the legs of a payout stand behind its compute budget', () => {
  expect([0, 1, 2, 3, 4].map((position) => legAt(PAYOUT, position))).toEqual([
    undefined,
    undefined,
    ...LEGS,
    undefined,
  ]);
});

test('a payout that does not fit into one transaction is refused by its id', async () => {
  const id = 'x'.repeat(1_000);
  await expect(payoutTransaction({ ...PAYOUT, id }, PAYER)).rejects.toThrow(
    new RangeError(`payout ${id} does not fit into one transaction`),
  );
});
