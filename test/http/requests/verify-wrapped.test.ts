import {
  createAssociatedTokenAccountIdempotentInstruction,
  createCloseAccountInstruction,
  createSyncNativeInstruction,
  getAssociatedTokenAddressSync,
  NATIVE_MINT,
} from '@solana/spl-token';
import { type Keypair, SystemProgram, type TransactionInstruction } from '@solana/web3.js';
import { PROGRAMS } from '../../../src/solana/transaction/programs.js';
import { accountOf, move, tokenOf } from '../../helpers/fixtures/native-arena.js';
import { useNativeFixture } from '../../helpers/fixtures/native-fixture.js';
import { buildDraft } from '../../helpers/transactions/draft.js';
import { transferChecked } from '../../helpers/transactions/raw-instructions.js';

const fixture = useNativeFixture();
const addressOf = ({ publicKey }: Keypair): string => publicKey.toBase58();
const REFUSED = { verified: false, status: 'confirmed', amount: null, from: null, to: null };
let payer: Keypair;
let seller: Keypair;

beforeAll(async () => {
  seller = await fixture().sandbox.createWallet({ sol: '1', usdc: '0' });
});
beforeEach(async () => {
  payer = await fixture().sandbox.createWallet({ sol: '100', usdc: '1000' });
});

async function send(instructions: readonly TransactionInstruction[]) {
  const { blockhash } = await fixture().connection.getLatestBlockhash();
  const draft = { version: 0, feePayer: addressOf(payer), blockhash, instructions } as const;
  return fixture().sendPast(buildDraft({ ...draft, signers: [payer] }));
}

async function verify(tx_signature: string, expected?: object) {
  return (await fixture().post('/verify', { tx_signature, expected })).body;
}

function paying(): TransactionInstruction {
  const [from, to] = [payer, seller].map((it) => accountOf(fixture(), it)) as [string, string];
  return move(fixture(), { from, to, by: payer, amount: 100_000_000n });
}

const wrappedAt = ({ publicKey }: Keypair) => getAssociatedTokenAddressSync(NATIVE_MINT, publicKey);
const wrap = (lamports: number): TransactionInstruction[] => [
  createAssociatedTokenAccountIdempotentInstruction(payer.publicKey, wrappedAt(payer), payer.publicKey, NATIVE_MINT),
  SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: wrappedAt(payer), lamports }),
  createSyncNativeInstruction(wrappedAt(payer)),
];
const mint = NATIVE_MINT.toBase58();

test('that is wrapped and paid in one transaction has arrived once', async () => {
  const parts = { mint, decimals: 9, program: PROGRAMS.token, authority: addressOf(payer), amount: 500_000_000n };
  const [source, destination] = [wrappedAt(payer).toBase58(), wrappedAt(seller).toBase58()];
  const open = createAssociatedTokenAccountIdempotentInstruction(
    payer.publicKey,
    wrappedAt(seller),
    seller.publicKey,
    NATIVE_MINT,
  );
  const signature = await send([...wrap(500_000_000), open, transferChecked({ ...parts, source, destination })]);
  const wanted = { recipient: addressOf(seller), token: mint, amount: 0.5 };
  const found = await verify(signature, wanted);
  expect(found).toMatchObject({ verified: true, amount: 0.5, from: addressOf(payer), received: [{ mint }] });
  expect(found['received']).toHaveLength(1);
  expect(await verify(signature, { ...wanted, amount: 1 })).toMatchObject(REFUSED);
});

test('that is wrapped and unwrapped again is nobody’s gain', async () => {
  const close = createCloseAccountInstruction(wrappedAt(payer), payer.publicKey, payer.publicKey);
  const { mint: usdc } = tokenOf(fixture());
  const signature = await send([...wrap(7_000_000), close, paying()]);
  expect((await verify(signature))['received']).toMatchObject([{ mint: usdc, amount: 100 }]);
});

test('that is unwrapped to somebody is SOL that arrived', async () => {
  const close = createCloseAccountInstruction(wrappedAt(payer), seller.publicKey, payer.publicKey);
  const signature = await send([...wrap(7_000_000), close]);
  const rent = 2_039_280;
  const found = await verify(signature, { recipient: addressOf(seller), token: 'SOL' });
  expect(found).toMatchObject({ verified: true, amount: (7_000_000 + rent) / 1e9, from: null });
});
