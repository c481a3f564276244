import {
  createApproveInstruction,
  createCloseAccountInstruction,
  createInitializeAccount3Instruction,
} from '@solana/spl-token';
import {
  type AddressLookupTableAccount,
  AddressLookupTableProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  type TransactionInstruction,
} from '@solana/web3.js';
import { accountOf, creation, move, tokenOf } from '../../helpers/fixtures/native-arena.js';
import { useNativeFixture } from '../../helpers/fixtures/native-fixture.js';
import { buildDraft } from '../../helpers/transactions/draft.js';
import {
  handOver,
  madeInside,
  transferChecked,
  transferCheckedWithFee,
} from '../../helpers/transactions/raw-instructions.js';

const fixture = useNativeFixture();
const addressOf = ({ publicKey }: Keypair): string => publicKey.toBase58();
const HUNDRED = 100_000_000n;
let payer: Keypair;
let seller: Keypair;
let expected: { recipient: string; token: string; amount: number };

beforeAll(async () => {
  payer = await fixture().sandbox.createWallet({ sol: '100', usdc: '100000' });
});
beforeEach(async () => {
  seller = await fixture().sandbox.createWallet({ sol: '1', usdc: '1000' });
  expected = { recipient: addressOf(seller), token: 'USDC', amount: 100 };
});

interface Sending {
  readonly signers?: readonly Keypair[];
  readonly lookupTables?: readonly AddressLookupTableAccount[];
}

/** Sends instructions as the payer, and others who sign; answers the signature. */
async function send(
  instructions: readonly TransactionInstruction[],
  { signers = [], lookupTables = [] }: Sending = {},
) {
  const { blockhash } = await fixture().connection.getLatestBlockhash();
  const draft = { version: 0, feePayer: addressOf(payer), blockhash, instructions, lookupTables } as const;
  return fixture().sendPast(buildDraft({ ...draft, signers: [payer, ...signers] }));
}

async function verify(tx_signature: string, wanted: object | undefined = expected) {
  return (await fixture().post('/verify', { tx_signature, expected: wanted })).body;
}

/** What the seller holds more, by the chain. */
const sellerHolds = () => fixture().sandbox.tokenBalance(addressOf(seller), tokenOf(fixture()).mint);
const at = (wallet: Keypair): string => accountOf(fixture(), wallet);
const shift = (from: string, to: string, by: Keypair, amount = HUNDRED) => move(fixture(), { from, to, by, amount });
const paying = (amount = HUNDRED) => shift(at(payer), at(seller), payer, amount);

/** Opens a token account at a key of its own. */
function opening(account: Keypair, owner: Keypair): TransactionInstruction[] {
  const { mint, program } = tokenOf(fixture());
  const create = SystemProgram.createAccount({
    fromPubkey: payer.publicKey,
    newAccountPubkey: account.publicKey,
    lamports: 2_039_280,
    space: 165,
    programId: new PublicKey(program),
  });
  return [create, createInitializeAccount3Instruction(account.publicKey, new PublicKey(mint), owner.publicKey)];
}

const REFUSED = { verified: false, status: 'confirmed', amount: null, token: null, from: null, to: null };
const hundred = () => ({ to: addressOf(seller), token: 'USDC', amount: 100, amount_atomic: String(HUNDRED) });

async function expectVerified(signature: string): Promise<void> {
  const { recipient: to, ...rest } = expected;
  const found = await verify(signature);
  expect(found).toMatchObject({ verified: true, ...rest, to, from: addressOf(payer) });
  expect(found['received']).toMatchObject([hundred()]);
}

describe('an account that changes hands', () => {
  test.each([
    ['at the top level', (it: TransactionInstruction) => it],
    ['inside', madeInside],
  ])('proves nothing, though money was in it: %s', async (_where, made) => {
    const account = Keypair.generate();
    const throwAway = addressOf(account);
    const there = [...opening(account, payer), shift(at(payer), throwAway, payer)];
    const back = shift(throwAway, at(payer), payer);
    const given = made(handOver(throwAway, addressOf(seller), { by: addressOf(payer) }));
    const signature = await send([...there, back, given], { signers: [account] });
    expect(await verify(signature)).toMatchObject({ ...REFUSED, received: [] });
    expect(await verify(signature, { recipient: addressOf(seller) })).toMatchObject(REFUSED);
    expect((await fixture().post('/verify', { tx_signature: signature })).body).toMatchObject(REFUSED);
  });

  test('proves nothing, though money stays in it', async () => {
    const account = Keypair.generate();
    const there = [...opening(account, payer), shift(at(payer), addressOf(account), payer)];
    const given = handOver(addressOf(account), addressOf(seller), { by: addressOf(payer) });
    const signature = await send([...there, given], { signers: [account] });
    expect(await verify(signature)).toMatchObject({ ...REFUSED, received: [] });
  });

  test('and its twin: one that is the recipient’s from the beginning', async () => {
    const account = Keypair.generate();
    const there = [...opening(account, seller), shift(at(payer), addressOf(account), payer)];
    await expectVerified(await send(there, { signers: [account] }));
  });
});

test('money that is sent around proves what is left of it', async () => {
  const around = [paying(), shift(at(seller), at(payer), seller, 40_000_000n)];
  const signature = await send(around, { signers: [seller] });
  expect(await verify(signature)).toMatchObject({ ...REFUSED, received: [{ amount: 60 }] });
  expect(await verify(signature, { ...expected, amount: 60 })).toMatchObject({ verified: true, amount: 60 });
});

test('two transfers to one wallet are what they sum up to, or one of them', async () => {
  const signature = await send([paying(30_000_000n), paying(70_000_000n)]);
  await expectVerified(signature);
  for (const amount of [30, 70]) expect((await verify(signature, { ...expected, amount }))['verified']).toBe(true);
  for (const amount of [31, 99, 101])
    expect((await verify(signature, { ...expected, amount }))['verified']).toBe(false);
});

describe('a mint that keeps a fee', () => {
  function mintWith(basisPoints: number) {
    const transferFee = { basisPoints, maximumFee: 10n ** 12n };
    const { mint, program, decimals } = fixture().sandbox.createMint({ extensions: { transferFee } });
    const source = fixture().sandbox.fundToken(addressOf(payer), mint, HUNDRED);
    const destination = fixture().sandbox.fundToken(addressOf(seller), mint, 0n);
    return { source, mint, destination, authority: addressOf(payer), amount: 1_000_000n, decimals, program };
  }

  test('of everything lets nothing arrive', async () => {
    const parts = mintWith(10_000);
    for (const transfer of [transferChecked(parts), transferCheckedWithFee(parts, 1_000_000n)]) {
      const signature = await send([transfer]);
      expect(fixture().sandbox.tokenBalance(addressOf(seller), parts.mint)).toBe(0n);
      for (const wanted of [{ token: parts.mint, amount: 1 }, { recipient: addressOf(seller) }]) {
        expect(await verify(signature, wanted)).toMatchObject({ ...REFUSED, received: [] });
      }
    }
  });

  test('of a part lets the rest arrive', async () => {
    const parts = mintWith(100);
    for (const transfer of [transferChecked(parts), transferCheckedWithFee(parts, 10_000n)]) {
      const signature = await send([transfer]);
      const wanted = { recipient: addressOf(seller), token: parts.mint };
      expect((await verify(signature, { ...wanted, amount: 1 }))['verified']).toBe(false);
      const found = await verify(signature, { ...wanted, amount: 0.99 });
      expect(found).toMatchObject({ verified: true, amount: 0.99, transfers: [{ amount: 0.99 }] });
    }
  });
});

describe('what is expected is strict', () => {
  const ask = (body: object) => fixture().post('/verify', { tx_signature: '1'.repeat(64), ...body });

  test.each([
    ['to', 'recipient'],
    ['payTo', 'recipient'],
    ['recipent', 'recipient'],
    ['mint', 'token'],
    ['tokn', 'token'],
    ['amount_atomic', 'amount'],
    ['ammount', 'amount'],
  ])('a field "%s" is refused, and "%s" proposed', async (field, meant) => {
    const { status, body } = await ask({ expected: { [field]: addressOf(seller) } });
    expect([status, body['code']]).toEqual([400, 'invalid_request']);
    expect(body['detail']).toContain(`/expected/${field}: is no field of this request; did you mean "${meant}"?`);
    const beside = await ask({ [field]: addressOf(seller) });
    expect([beside.status, beside.body['code']]).toEqual([400, 'invalid_request']);
    expect(beside.body['detail']).toContain(
      `"${field}" is no field of this request; did you mean "expected": {"${meant}"`,
    );
  });

  test.each<[string, object, string]>([
    ['a field that is like none', { expected: { payer: 'x' } }, 'the fields are recipient, token, amount'],
    ['a misspelt "expected"', { expectd: {} }, 'did you mean "expected"?'],
    ['nothing', { expected: {} }, 'at least one of recipient, token, amount'],
    ['null', { expected: null }, 'must be an object'],
    ['no address', { expected: { recipient: 'me' } }, 'must be a wallet address'],
    ['no amount', { expected: { amount: true } }, 'must be a number'],
    [
      'an amount with a comma',
      { expected: { amount: '0,01' } },
      '/expected/amount: "0,01" has a comma; write a point, 0.01',
    ],
    ['an empty amount', { expected: { amount: '' } }, '/expected/amount: "" is not a number'],
    ['an amount in words', { expected: { amount: 'one' } }, '"one" is not a number'],
    ['a negative amount', { expected: { amount: '-1' } }, '"-1" is negative'],
    ['a negative number', { expected: { amount: -1 } }, 'negative'],
    ['a misspelt symbol', { expected: { token: 'USDD' } }, 'expected.token must be the address of a mint'],
    ['a symbol that nobody knows', { expected: { token: 'USDD' } }, 'did you mean "USDC"?'],
  ])('%s is refused with a sentence', async (_what, body, sentence) => {
    const answer = await ask(body);
    expect([answer.status, answer.body['code']]).toEqual([400, 'invalid_request']);
    expect(answer.body['detail']).toContain(sentence);
  });

  test('and its twin: the right fields, and others that expect nothing', async () => {
    const signature = await send([paying()]);
    await expectVerified(signature);
    expect(await verify(signature, { ...expected, recipient: addressOf(payer) })).toMatchObject(REFUSED);
    const { body } = await fixture().post('/verify', { tx_signature: signature, network: 'solana-devnet', expected });
    expect(body).toMatchObject({ verified: true });
  });
});

describe('delegates', () => {
  test('who takes the money back in the same transaction leaves nothing', async () => {
    const account = new PublicKey(at(seller));
    const approve = createApproveInstruction(account, payer.publicKey, seller.publicKey, HUNDRED * 10n);
    await send([approve], { signers: [seller] });
    const before = sellerHolds();
    const back = madeInside(shift(at(seller), at(payer), payer));
    const signature = await send([paying(), back]);
    expect(sellerHolds()).toBe(before);
    expect(await verify(signature)).toMatchObject({ ...REFUSED, received: [] });
    await expectVerified(await send([paying()]));
  });

  test('who pays from another wallet’s account is who paid', async () => {
    const friend = await fixture().sandbox.createWallet({ sol: '1', usdc: '1000' });
    const account = new PublicKey(at(friend));
    const approve = createApproveInstruction(account, payer.publicKey, friend.publicKey, HUNDRED);
    await send([approve], { signers: [friend] });
    await expectVerified(await send([shift(at(friend), at(seller), payer)]));
  });
});

describe('accounts that are closed', () => {
  test('by who paid from them are no riddle', async () => {
    const account = Keypair.generate();
    await send([...opening(account, payer), shift(at(payer), addressOf(account), payer)], { signers: [account] });
    const close = createCloseAccountInstruction(account.publicKey, payer.publicKey, payer.publicKey);
    const found = await verify(await send([shift(addressOf(account), at(seller), payer), close]));
    const back = { to: addressOf(payer), token: 'SOL', mint: null, amount: 0.00203928, amount_atomic: '2039280' };
    expect(found).toMatchObject({ verified: true, amount: 100, from: addressOf(payer), to: addressOf(seller) });
    expect(found['received']).toEqual([{ ...hundred(), mint: tokenOf(fixture()).mint }, back]);
  });

  test('by the recipient, who moves the money on to himself, have received it', async () => {
    const account = Keypair.generate();
    const there = [...opening(account, seller), shift(at(payer), addressOf(account), payer)];
    const close = createCloseAccountInstruction(account.publicKey, payer.publicKey, seller.publicKey);
    const on = [shift(addressOf(account), at(seller), seller), close];
    const found = await verify(await send([...there, ...on], { signers: [account, seller] }));
    expect(found).toMatchObject({ verified: true, amount: 100, to: addressOf(seller) });
    expect(found['received']).toMatchObject([hundred()]);
  });

  test('after the money has gone have received nothing', async () => {
    const account = Keypair.generate();
    const there = [...opening(account, seller), shift(at(payer), addressOf(account), payer)];
    const close = createCloseAccountInstruction(account.publicKey, payer.publicKey, seller.publicKey);
    const gone = [shift(addressOf(account), at(payer), seller), close];
    const found = await verify(await send([...there, ...gone], { signers: [account, seller] }));
    expect(found).toMatchObject({ ...REFUSED, received: [] });
  });
});

test('accounts from a lookup table are read like all others', async () => {
  const authority = payer.publicKey;
  const recentSlot = fixture().sandbox.slot() - 1;
  const [create, table] = AddressLookupTableProgram.createLookupTable({ authority, payer: authority, recentSlot });
  const addresses = [at(payer), at(seller), tokenOf(fixture()).mint].map((it) => new PublicKey(it));
  await send([
    create,
    AddressLookupTableProgram.extendLookupTable({ payer: authority, authority, lookupTable: table, addresses }),
  ]);
  const { value } = await fixture().connection.getAddressLookupTable(table);
  const lookupTables = [value!];
  await expectVerified(await send([paying()], { lookupTables }));
  const around = [paying(), shift(at(seller), at(payer), seller)];
  expect(await verify(await send(around, { lookupTables, signers: [seller] }))).toMatchObject(REFUSED);
});

test('the account of a recipient may be opened in the transaction', async () => {
  const fresh = Keypair.generate();
  const open = creation(fixture(), addressOf(payer), addressOf(fresh));
  const pay = shift(at(payer), at(fresh), payer);
  const found = await verify(await send([open, pay]), { recipient: addressOf(fresh), token: 'USDC', amount: 100 });
  expect(found).toMatchObject({ verified: true, to: addressOf(fresh), received: [{ amount: 100 }] });
});
