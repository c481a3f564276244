import { createInitializeAccount3Instruction, createTransferCheckedInstruction } from '@solana/spl-token';
import { Keypair, PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js';
import { accountOf, move, tokenOf } from '../../helpers/fixtures/native-arena.js';
import { type CreatedBody, useNativeFixture } from '../../helpers/fixtures/native-fixture.js';
import { buildDraft } from '../../helpers/transactions/draft.js';

const fixture = useNativeFixture();
const PRICE = 500_000n;
let buyer: Keypair;
beforeAll(async () => {
  buyer = await fixture().sandbox.createWallet({ sol: '1', usdc: '100', usdt: '100' });
});

/** A wallet that knows a reference and builds its transfer by itself. */
function transfer(reference: string | undefined, amount: bigint, symbol = 'USDC'): TransactionInstruction {
  const [from, to] = [accountOf(fixture(), buyer, symbol), accountOf(fixture(), fixture().payTo, symbol)];
  const instruction = move(fixture(), { from, to, by: buyer, amount }, symbol);
  if (reference !== undefined) name(instruction, reference);
  return instruction;
}

function name(instruction: TransactionInstruction, reference: string): void {
  instruction.keys.push({ pubkey: new PublicKey(reference), isSigner: false, isWritable: false });
}

async function send(instructions: readonly TransactionInstruction[], signers: readonly Keypair[] = [buyer]) {
  const { blockhash } = await fixture().connection.getLatestBlockhash();
  const feePayer = buyer.publicKey.toBase58();
  return fixture().sendPast(buildDraft({ version: 0, feePayer, blockhash, instructions, signers }));
}

const ask = () => fixture().create({ payer: undefined });

/** One look at the chain: what it finds is believed for some seconds. */
const stateOf = async ({ payment_id }: CreatedBody) => (await fixture().get(`/payments/${payment_id}`)).body;

const came = (amount: bigint, token = 'USDC') => [
  expect.objectContaining({ to: fixture().payTo, token, amount_atomic: String(amount) }),
];

const settledBy = (tx_signature: string, surplus: string) => ({
  ...{ status: 'settled', tx_signature, reason: null, surplus, payer: buyer.publicKey.toBase58() },
});

describe('a wallet that sends more than the price', () => {
  test.each<[string, bigint, string]>([
    ['exactly the price, of which nothing is left over', PRICE, '0'],
    ['one unit more', PRICE + 1n, '1'],
    ['three times the price', 3n * PRICE, '1000000'],
  ])('has paid, and what is left over is told: %s', async (_what, amount, surplus) => {
    const created = await ask();
    const signature = await send([transfer(created.reference, amount)]);
    expect(await stateOf(created)).toMatchObject({ ...settledBy(signature, surplus), unmatched: [] });
  });

  test('has paid its own request, and no other that asks for as much', async () => {
    const [own, other] = [await ask(), await ask()];
    const signature = await send([transfer(own.reference, 2n * PRICE)]);
    expect(await stateOf(other)).toMatchObject({ status: 'created', unmatched: [] });
    expect(await stateOf(own)).toMatchObject(settledBy(signature, '500000'));
  });

  test.each(['in one transfer', 'by a transfer each'])('pays one of two requests that it names %s', async (how) => {
    const [one, other] = [await ask(), await ask()];
    const both = transfer(one.reference, 2n * PRICE);
    name(both, other.reference);
    const each = [transfer(one.reference, PRICE), transfer(other.reference, PRICE)];
    const signature = await send(how === 'in one transfer' ? [both] : each);
    const paid = how === 'in one transfer' ? other : one;
    expect(await stateOf(paid)).toMatchObject(settledBy(signature, '500000'));
    expect(await stateOf(paid === one ? other : one)).toMatchObject({
      status: 'created',
      unmatched: [{ tx_signature: signature, reason: 'duplicate_settlement', received: came(2n * PRICE) }],
    });
  });
});

describe('money that does not pay its request is told with its signature', () => {
  const short = { reason: 'invalid_transfer_leg_missing' };

  test('two parts in two transactions', async () => {
    const created = await ask();
    const parts = [
      await send([transfer(created.reference, 200_000n)]),
      await send([transfer(created.reference, 300_000n)]),
    ];
    expect(await stateOf(created)).toMatchObject({
      status: 'created',
      surplus: '0',
      unmatched: [
        { ...short, tx_signature: parts[0], received: came(200_000n) },
        { ...short, tx_signature: parts[1], received: came(300_000n) },
      ],
    });
  });

  test('two parts in one transaction', async () => {
    const created = await ask();
    const halves = [transfer(created.reference, PRICE / 2n), transfer(created.reference, PRICE / 2n)];
    const tx_signature = await send(halves);
    const unmatched = [{ ...short, tx_signature, received: came(PRICE) }];
    expect(await stateOf(created)).toMatchObject({ status: 'created', unmatched });
  });

  test('another token', async () => {
    const created = await ask();
    const tx_signature = await send([transfer(created.reference, PRICE, 'USDT')]);
    const unmatched = [{ ...short, tx_signature, received: came(PRICE, 'USDT') }];
    expect(await stateOf(created)).toMatchObject({ status: 'created', unmatched });
  });

  test('another token account of the seller', async () => {
    const created = await ask();
    const { mint, program, decimals } = tokenOf(fixture());
    const [side, programId] = [Keypair.generate(), new PublicKey(program)];
    const fromPubkey = buyer.publicKey;
    const opened = { fromPubkey, newAccountPubkey: side.publicKey, lamports: 2_039_280, space: 165, programId };
    const from = new PublicKey(accountOf(fixture(), buyer));
    const token = new PublicKey(mint);
    const paid = createTransferCheckedInstruction(from, token, side.publicKey, fromPubkey, PRICE, decimals);
    name(paid, created.reference);
    const owner = new PublicKey(fixture().payTo);
    const open = [
      SystemProgram.createAccount(opened),
      createInitializeAccount3Instruction(side.publicKey, token, owner),
    ];
    const tx_signature = await send([...open, paid], [buyer, side]);
    const unmatched = [{ ...short, tx_signature, received: came(PRICE) }];
    expect(await stateOf(created)).toMatchObject({ status: 'created', unmatched });
  });

  test('a second payment, though the first has settled the request', async () => {
    const created = await ask();
    const first = await send([transfer(created.reference, PRICE)]);
    const second = await send([transfer(created.reference, PRICE)]);
    const reason = 'invalid_transfer_already_paid';
    expect(await stateOf(created)).toMatchObject({
      ...settledBy(first, '0'),
      unmatched: [{ tx_signature: second, reason, received: came(PRICE) }],
    });
  });

  test('and nothing is told of what brings the seller nothing', async () => {
    const created = await ask();
    const { publicKey } = buyer;
    const nothing = SystemProgram.transfer({ fromPubkey: publicKey, toPubkey: publicKey, lamports: 1 });
    name(nothing, created.reference);
    await send([nothing]);
    expect(await stateOf(created)).toMatchObject({ status: 'created', unmatched: [] });
  });
});

test('in an outage a settled payment is told without what came beside it', async () => {
  const created = await fixture().create();
  const draft = await fixture().draft(created);
  expect((await fixture().settle(created.payment_id, buildDraft(draft))).status).toBe(200);
  const fault = fixture().sandbox.faults.add({ kind: 'error', method: 'getSignaturesForAddress' });
  try {
    expect(await stateOf(created)).toMatchObject({ status: 'settled', surplus: '0', unmatched: [] });
  } finally {
    fault.remove();
  }
});

describe('before a second payment is prepared', () => {
  test('what came is said to whoever asks and to a wallet, and the whole price still pays', async () => {
    const created = await ask();
    const part = await send([transfer(created.reference, 200_000n)]);
    const path = `/payments/${created.payment_id}/transaction`;
    const account = buyer.publicKey.toBase58();
    const prepared = await fixture().post(path, { payer: account });
    expect(prepared.body).toMatchObject({ unmatched: [{ tx_signature: part, received: came(200_000n) }] });
    expect((await fixture().post(path, { account })).body['message']).toContain(part);

    const draft = await fixture().draft(prepared.body as object as CreatedBody, buyer);
    expect((await fixture().settle(created.payment_id, buildDraft(draft))).status).toBe(200);
    const unmatched = [{ tx_signature: part, received: came(200_000n) }];
    expect(await stateOf(created)).toMatchObject({ status: 'settled', surplus: '0', unmatched });
  });

  test('nothing is said where nothing came', async () => {
    const created = await ask();
    const path = `/payments/${created.payment_id}/transaction`;
    const account = buyer.publicKey.toBase58();
    expect((await fixture().post(path, { payer: account })).body).not.toHaveProperty('unmatched');
    expect((await fixture().post(path, { account })).body['message']).toBe('Payment');
  });
});
