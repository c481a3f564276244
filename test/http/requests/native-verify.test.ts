import { createTransferInstruction } from '@solana/spl-token';
import {
  type AddressLookupTableAccount,
  AddressLookupTableProgram,
  type Keypair,
  PublicKey,
  SystemProgram,
  type TransactionInstruction,
} from '@solana/web3.js';
import bs58 from 'bs58';
import { accountOf, move, tokenOf } from '../../helpers/fixtures/native-arena.js';
import { useNativeFixture } from '../../helpers/fixtures/native-fixture.js';
import { buildDraft } from '../../helpers/transactions/draft.js';
import { madeInside, memo, transferChecked } from '../../helpers/transactions/raw-instructions.js';
import { until } from '../../helpers/until.js';

const FINALIZED_AFTER = 400;
const fixture = useNativeFixture({}, { finalizedAfterSlots: FINALIZED_AFTER, slotMs: 10 });
const addressOf = ({ publicKey }: Keypair): string => publicKey.toBase58();
let payer: Keypair;
let friend: Keypair;

beforeAll(async () => {
  payer = await fixture().sandbox.createWallet({ sol: '100', usdc: '1000', usdt: '1000', pyusd: '1000' });
  friend = await fixture().sandbox.createWallet({ sol: '1', usdc: '0', usdt: '0' });
});
afterEach(() => {
  fixture().sandbox.faults.clear();
  fixture().sandbox.resumeSlots();
});

async function signed(instructions: TransactionInstruction[], lookupTables: AddressLookupTableAccount[] = []) {
  const { blockhash } = await fixture().connection.getLatestBlockhash();
  const feePayer = addressOf(payer);
  return buildDraft({ version: 0, feePayer, blockhash, instructions, signers: [payer], lookupTables });
}

const send = async (...instructions: TransactionInstruction[]) => fixture().sendPast(await signed(instructions));
const verify = (tx_signature: unknown, expected?: object) => fixture().post('/verify', { tx_signature, expected });
const sol = (to: Keypair | string, lamports: number) =>
  SystemProgram.transfer({
    fromPubkey: payer.publicKey,
    toPubkey: new PublicKey(typeof to === 'string' ? to : addressOf(to)),
    lamports,
  });
const tokens = (to: Keypair | string, amount: bigint, symbol = 'USDC') =>
  move(
    fixture(),
    { from: accountOf(fixture(), payer, symbol), to: accountOf(fixture(), to, symbol), by: payer, amount },
    symbol,
  );

describe('any transfer on the chain is verified', () => {
  test('of SOL, at the top level', async () => {
    const answer = await verify(await send(sol(friend, 1_500_000_001)));
    expect(answer).toMatchObject({
      status: 200,
      body: {
        verified: true,
        status: 'confirmed',
        block_number: expect.any(Number),
        confirmations: expect.any(Number),
        amount: 1.500000001,
        token: 'SOL',
        from: addressOf(payer),
        to: addressOf(friend),
      },
    });
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  test.each(['USDC', 'PYUSD'])('of %s, at the top level; wallets are named and not their accounts', async (symbol) => {
    fixture().sandbox.fundToken(addressOf(friend), tokenOf(fixture(), symbol).mint, 0n);
    const { body } = await verify(await send(tokens(friend, 1_250_000n, symbol)));
    expect(body).toMatchObject({
      verified: true,
      amount: 1.25,
      token: symbol,
      from: addressOf(payer),
      to: addressOf(friend),
    });
    expect(body['transfers']).toMatchObject([{ mint: tokenOf(fixture(), symbol).mint, amount_atomic: '1250000' }]);
  });

  test('of tokens, by a Transfer that does not name the mint', async () => {
    const [from, to] = [new PublicKey(accountOf(fixture(), payer)), new PublicKey(accountOf(fixture(), friend))];
    const { body } = await verify(await send(createTransferInstruction(from, to, payer.publicKey, 7n)));
    expect(body).toMatchObject({ verified: true, amount: 0.000007, token: 'USDC', to: addressOf(friend) });
  });

  test('of a token that nobody has configured, by its mint', async () => {
    const { mint, program } = fixture().sandbox.createMint({ decimals: 2 });
    const from = fixture().sandbox.fundToken(addressOf(payer), mint, 100n);
    const to = fixture().sandbox.fundToken(addressOf(friend), mint, 0n);
    const keys = [new PublicKey(from), new PublicKey(to), payer.publicKey] as const;
    const instruction = createTransferInstruction(...keys, 99n, [], new PublicKey(program));
    expect((await verify(await send(instruction))).body).toMatchObject({ amount: 0.99, token: mint });
  });

  test('inside of another instruction', async () => {
    const { body } = await verify(await send(madeInside(sol(friend, 30_000_000))));
    expect(body).toMatchObject({ verified: true, token: 'SOL', from: addressOf(payer), amount: 0.03 });
    expect(body['to']).toBe(addressOf(friend));
  });

  test('to an account from a lookup table', async () => {
    const authority = payer.publicKey;
    const recentSlot = fixture().sandbox.slot() - 1;
    const [create, table] = AddressLookupTableProgram.createLookupTable({
      authority,
      payer: authority,
      recentSlot,
    });
    const extend = AddressLookupTableProgram.extendLookupTable({
      payer: authority,
      authority,
      lookupTable: table,
      addresses: [friend.publicKey],
    });
    await send(create, extend);
    const { value } = await fixture().connection.getAddressLookupTable(table);
    const tx_signature = await fixture().sendPast(await signed([sol(friend, 77_000_000)], [value!]));

    expect((await verify(tx_signature)).body).toMatchObject({ amount: 0.077, token: 'SOL', to: addressOf(friend) });
  });
});

describe('of several transfers', () => {
  const several = () =>
    send(
      tokens(friend, 2_000_000n),
      sol(friend, 1_000),
      tokens(fixture().payTo, 500_000n),
      tokens(friend, 3_000_000n, 'USDT'),
    );

  test('all are told, and the largest is the one', async () => {
    const { body } = await verify(await several());
    expect(body).toMatchObject({ verified: true, amount: 3, token: 'USDT', to: addressOf(friend) });
    expect((body['transfers'] as { amount: number }[]).map(({ amount }) => amount)).toEqual([2, 0.000001, 0.5, 3]);
  });

  test('the one that is expected is found, by recipient, token and amount', async () => {
    const tx_signature = await several();
    const { payTo } = fixture();
    const { mint } = tokenOf(fixture());
    for (const expected of [
      { recipient: payTo },
      { recipient: payTo, token: 'USDC', amount: 0.5 },
      { token: 'usdc', amount: '0.50' },
      { token: mint, amount: 0.5 },
      { amount: 0.5 },
    ]) {
      const { body } = await verify(tx_signature, expected);
      expect(body).toMatchObject({ verified: true, amount: 0.5, token: 'USDC', to: payTo });
    }
  });

  test('one that was expected and is not there is not verified', async () => {
    const tx_signature = await several();
    for (const expected of [
      { recipient: addressOf(payer) },
      { recipient: fixture().payTo, token: 'USDT' },
      { recipient: fixture().payTo, amount: 0.500001 },
      { amount: '0.5000001' },
      { token: 'SOL', amount: 1 },
    ]) {
      const { body } = await verify(tx_signature, expected);
      expect(body).toMatchObject({
        verified: false,
        status: 'confirmed',
        amount: null,
        token: null,
        from: null,
        to: null,
      });
      expect(body['transfers']).toHaveLength(4);
    }
  });
});

test('an amount is compared exactly, beyond what a JSON number holds', async () => {
  const { mint, program } = fixture().sandbox.createMint({ decimals: 0 });
  const amount = 2n ** 53n + 1n;
  const from = fixture().sandbox.fundToken(addressOf(payer), mint, amount);
  const to = fixture().sandbox.fundToken(addressOf(friend), mint, 0n);
  const keys = [new PublicKey(from), new PublicKey(to), payer.publicKey] as const;
  const tx_signature = await send(createTransferInstruction(...keys, amount, [], new PublicKey(program)));

  expect((await verify(tx_signature, { amount: String(amount - 1n) })).body['verified']).toBe(false);
  expect((await verify(tx_signature, { amount: String(amount) })).body).toMatchObject({
    verified: true,
    transfers: [{ amount_atomic: String(amount) }],
  });
});

test('of a token that keeps a fee of its transfers, what arrived is told and not what was sent', async () => {
  const transferFee = { basisPoints: 100, maximumFee: 10n ** 9n };
  const { mint, program, decimals } = fixture().sandbox.createMint({ extensions: { transferFee } });
  const from = fixture().sandbox.fundToken(addressOf(payer), mint, 10_000_000n);
  const to = fixture().sandbox.fundToken(addressOf(friend), mint, 0n);
  const authority = addressOf(payer);
  const tx_signature = await send(
    transferChecked({ source: from, mint, destination: to, authority, amount: 1_000_000n, decimals, program }),
  );

  expect((await verify(tx_signature, { amount: 1 })).body['verified']).toBe(false);
  expect((await verify(tx_signature)).body).toMatchObject({ verified: true, amount: 0.99, token: mint });
});

describe('what is not verified', () => {
  const nothing = { amount: null, token: null, from: null, to: null, received: [], transfers: [] };

  test('a signature that nobody has seen', async () => {
    const { status, body } = await verify(bs58.encode(Buffer.alloc(64, 7)));
    expect([status, body]).toEqual([
      200,
      { verified: false, status: 'not_found', block_number: null, confirmations: null, network: null, ...nothing },
    ]);
  });

  test('a transaction that is in a block and not confirmed', async () => {
    const transaction = await signed([sol(friend, 1)]);
    fixture().sandbox.pauseSlots();
    const tx_signature = await fixture().connection.sendRawTransaction(transaction);
    const { body } = await verify(tx_signature);
    expect(body).toMatchObject({ verified: false, status: 'pending', ...nothing });
    fixture().sandbox.advanceSlots(2);
    expect((await verify(tx_signature)).body).toMatchObject({ verified: true, status: 'confirmed' });
  });

  test('a transaction that failed', async () => {
    const { body } = await verify(await send(sol(friend, 10 ** 15)));
    expect(body).toMatchObject({ verified: false, status: 'failed', block_number: expect.any(Number), ...nothing });
  });

  test('a transaction that moved nothing', async () => {
    for (const instruction of [sol(friend, 0), memo('hello')]) {
      const { body } = await verify(await send(instruction));
      expect(body).toMatchObject({ verified: false, status: 'confirmed', amount: null, token: null });
    }
  });

  test.each([
    ['no text', 7],
    ['nothing', undefined],
    ['an empty text', ''],
    ['an address', '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU'],
    ['letters that base58 does not have', '0'.repeat(88)],
    ['65 bytes', bs58.encode(Buffer.alloc(65, 255))],
    ['more than a signature', '1'.repeat(200)],
  ])('%s is no signature', async (_name, tx_signature) => {
    const answer = await fixture().post('/verify', { tx_signature: tx_signature ?? null });
    expect([answer.status, answer.body['code']]).toEqual([400, 'invalid_signature']);
  });
});

test('confirmations rise, and the end is that it is final', async () => {
  const tx_signature = await send(sol(friend, 5));
  fixture().sandbox.pauseSlots();
  const first = (await verify(tx_signature)).body;
  fixture().sandbox.advanceSlots(3);
  const second = (await verify(tx_signature)).body;
  fixture().sandbox.advanceSlots(FINALIZED_AFTER);
  const last = (await verify(tx_signature)).body;

  expect(second['confirmations']).toBe(Number(first['confirmations']) + 3);
  expect(last['confirmations']).toBe(Number(first['confirmations']) + 3 + FINALIZED_AFTER);
  expect([first, second, last].map(({ status }) => status)).toEqual(['confirmed', 'confirmed', 'finalized']);
  expect(last).toMatchObject({ verified: true, block_number: first['block_number'], amount: first['amount'] });
});

test('while the chain cannot be asked, the answer is 503 and not that there is nothing', async () => {
  const tx_signature = await send(sol(friend, 6));
  fixture().sandbox.faults.add({ kind: 'error' });
  const down = await verify(tx_signature);
  fixture().sandbox.faults.clear();

  expect(down).toMatchObject({ status: 503, body: { code: 'chain_unavailable', retryable: true } });
  expect(down.headers.get('retry-after')).toBe('2');
  await until(async () => (await verify(tx_signature)).status === 200);
});
