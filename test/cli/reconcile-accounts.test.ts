import { writeFileSync } from 'node:fs';
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createAssociatedTokenAccountInstruction,
  createSyncNativeInstruction,
} from '@solana/spl-token';
import {
  ComputeBudgetProgram,
  type Keypair,
  PublicKey,
  SystemProgram,
  type TransactionInstruction,
  VersionedTransaction,
} from '@solana/web3.js';
import bs58 from 'bs58';
import { reconcileCommand } from '../../src/cli/books/reconcile.js';
import { accounts } from '../../src/cli/operator/accounts.js';
import { SANDBOX_TOKENS } from '../../src/protocol/networks/tokens.js';
import { memoInstruction } from '../../src/solana/building/memo.js';
import { unsignedTransaction } from '../../src/solana/building/transfer-transaction.js';
import { associatedTokenAddress } from '../../src/solana/transaction/associated-token.js';
import { openStorage } from '../../src/storage/open-storage.js';
import { openTollFixture, type TollFixture } from '../helpers/fixtures/toll-fixture.js';
import { runCommand } from '../helpers/processes/run-command.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { offeredTerms, payTerms } from '../helpers/transactions/core-payments.js';
import { confirmed, latestBlockhash, sendToChain } from '../helpers/transactions/direct-transfer.js';

const RENT = 2_039_280n;
const FEE = 5_000n;

const folder = testFolder();
let fixture: TollFixture;
let feePayer: Keypair;
let url: string;

beforeAll(async () => {
  fixture = await openTollFixture();
});
beforeEach(async () => {
  feePayer = await fixture.sandbox.createWallet({ sol: '1' });
  url = `sqlite:${folder.newPath('db')}`;
});
afterAll(() => fixture.close());

const payer = () => feePayer.publicKey.toBase58();
const lamports = () => fixture.sandbox.balance(payer());
const mintOf = (symbol: string) => SANDBOX_TOKENS.find((it) => it.symbol === symbol)!;

const newWallet = async () => (await fixture.sandbox.createWallet({ sol: '0.1' })).publicKey.toBase58();

const reconcile = (...args: readonly string[]) =>
  runCommand(
    reconcileCommand,
    {
      DATABASE_URL: url,
      SOLANA_NETWORK: 'solana-devnet',
      SOLANA_RPC_URL: fixture.sandbox.rpcUrl,
      FACILITATOR_KEYPAIR: bs58.encode(feePayer.secretKey),
    },
    args,
  );

/** `tollhouse accounts create`, paid by the fee payer. */
async function createAccount(owner: string, token = 'USDC'): Promise<void> {
  const file = folder.newPath('json');
  writeFileSync(file, JSON.stringify([...feePayer.secretKey]), { mode: 0o600 });
  const paidBy = ['--keypair', file, '--rpc', fixture.sandbox.rpcUrl];
  const { code, text } = await runCommand(accounts, {}, ['create', owner, '--token', token, ...paidBy]);
  if (code !== 0) throw new Error(text);
}

/** The creation of a wallet's token account at the cost of the fee payer. */
function creation(owner: string, symbol = 'USDC', make = createAssociatedTokenAccountIdempotentInstruction) {
  const { mint, program } = mintOf(symbol);
  const account = associatedTokenAddress(owner, mint, program);
  const [paidBy, made, wallet, token, by] = [payer(), account, owner, mint, program].map((it) => new PublicKey(it));
  return make(paidBy!, made!, wallet!, token!, by);
}

/** Sends some instructions that the fee payer signs, and whoever else has to. */
async function send(instructions: readonly TransactionInstruction[], ...others: readonly Keypair[]): Promise<string> {
  const bytes = unsignedTransaction(instructions, payer(), await latestBlockhash(fixture.sandbox))!;
  const transaction = VersionedTransaction.deserialize(bytes);
  transaction.sign([feePayer, ...others]);
  const signature = await sendToChain(fixture.sandbox, transaction.serialize());
  await confirmed(fixture.sandbox, signature);
  return signature;
}

async function pay(): Promise<void> {
  const storage = await openStorage(url);
  const facilitator = fixture.facilitatorWith({ ledger: storage.ledger, keypair: feePayer });
  const terms = await offeredTerms(facilitator, fixture.payTo);
  const { status } = await facilitator.settle(await payTerms(fixture, terms), terms);
  await storage.close();
  if (status !== 'settled') throw new Error(`the payment is ${status}`);
}

test('accounts that tollhouse accounts create has made are told with what they cost, and are no difference', async () => {
  const before = lamports();
  await createAccount(await newWallet());
  await createAccount(await newWallet());
  const cost = before - lamports();
  await pay();
  const { code, text } = await reconcile('--from', '2020-01-01');

  expect(cost).toBe(2n * (RENT + FEE));
  expect(text).not.toContain('DIFFERENT');
  expect(text).toMatch(/result +0 differences/);
  const told = `token accounts made: 2, by 2 of its transactions that are not in the books and do nothing else, for ${cost} lamports of rent and fees`;
  expect(text).toMatch(new RegExp(`note +transaction ${payer()}: ${told}`));
  expect(code).toBe(0);
});

test('so are many in one transaction, with a compute budget, one of them there already, one with SOL that came before', async () => {
  const [owner, other, third] = [await newWallet(), await newWallet(), await newWallet()];
  await createAccount(owner);
  const { mint, program } = mintOf('USDC');
  const early = new PublicKey(associatedTokenAddress(third, mint, program));
  fixture.sandbox.airdrop(early.toBase58(), 1_000_000n);
  const before = lamports();
  await send([
    ComputeBudgetProgram.setComputeUnitLimit({ units: 200_000 }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1_000 }),
    creation(owner),
    creation(other, 'USDC', createAssociatedTokenAccountInstruction),
    creation(third),
  ]);
  const cost = before - lamports();
  await pay();
  const { code, text } = await reconcile('--from', '2020-01-01', '--json');

  expect(cost).toBe(2n * RENT - 1_000_000n + FEE + 200n);
  const all = cost + RENT + FEE;
  const detail = `token accounts made: 3, by 2 of its transactions that are not in the books and do nothing else, for ${all} lamports of rent and fees`;
  const notes = text.split('\n').filter((it) => it.includes('"note"'));
  expect(notes.map((it): unknown => JSON.parse(it))).toMatchObject([
    { type: 'note', kind: 'transaction', ids: [payer()], detail },
  ]);
  expect(code).toBe(0);
});

describe('a transaction that makes an account is a difference where it also', () => {
  const wrapped = (owner: string) =>
    new PublicKey(associatedTokenAddress(owner, mintOf('SOL').mint, mintOf('SOL').program));
  const transfer = (to: PublicKey) =>
    SystemProgram.transfer({ fromPubkey: feePayer.publicKey, toPubkey: to, lamports: 1_000_000 });

  test.each<[string, (owner: string) => readonly TransactionInstruction[]]>([
    ['moves lamports elsewhere', (owner) => [creation(owner), transfer(new PublicKey(owner))]],
    ['puts lamports into the account', (owner) => [creation(owner, 'SOL'), transfer(wrapped(owner))]],
    ['pays the account before it is made', (owner) => [transfer(wrapped(owner)), creation(owner, 'SOL')]],
    [
      'puts SOL into the account as a token',
      (owner) => [creation(owner, 'SOL'), transfer(wrapped(owner)), createSyncNativeInstruction(wrapped(owner))],
    ],
    ['says something', (owner) => [creation(owner), memoInstruction('order 7')]],
    ['makes none', () => [ComputeBudgetProgram.setComputeUnitLimit({ units: 20_000 })]],
  ])('%s', async (_, instructionsFor) => {
    const signature = await send(instructionsFor(await newWallet()));
    await pay();
    const { code, text } = await reconcile('--from', '2020-01-01');

    expect(text).toMatch(new RegExp(`DIFFERENT +transaction ${signature}: paid for by us, and not in the books`));
    expect(text).toMatch(/result +1 difference/);
    expect(code).toBe(1);
  });

  test('is paid for by another wallet, which signs too', async () => {
    const other = await fixture.sandbox.createWallet({ sol: '0.1' });
    const instruction = creation(await newWallet());
    instruction.keys[0] = { pubkey: other.publicKey, isSigner: true, isWritable: true };
    const signature = await send([instruction], other);
    await pay();
    const { code, text } = await reconcile('--from', '2020-01-01');

    expect(text).toMatch(new RegExp(`DIFFERENT +transaction ${signature}`));
    expect(code).toBe(1);
  });
});
