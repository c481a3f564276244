import { Keypair } from '@solana/web3.js';
import { associatedTokenAddress } from '../../../src/solana/transaction/associated-token.js';
import { type CreatedBody, signCreated, useNativeFixture } from '../../helpers/fixtures/native-fixture.js';
import { buildDraft } from '../../helpers/transactions/draft.js';

const SYSTEM = '11111111111111111111111111111111';
const fixture = useNativeFixture();

const held = (owner: string, token: string): bigint => {
  const { sandbox, facilitator } = fixture();
  const known = facilitator.tokens.find(({ symbol }) => symbol === token);
  return token === 'SOL' ? sandbox.balance(owner) : sandbox.tokenBalance(owner, known?.mint ?? token);
};

describe.each([
  ['USDC', 0.5, 500_000n, 6],
  ['USDT', 0.25, 250_000n, 6],
  ['PYUSD', 1, 1_000_000n, 6],
  ['SOL', 0.001, 1_000_000n, 9],
])('%s', (token, amount, atomic, decimals) => {
  test('is asked for, signed, settled at our cost, verified; the payment can be followed all the way', async () => {
    const { sandbox, payTo, feePayer } = fixture();
    const payer = await sandbox.createWallet({ sol: '1', usdc: '10', usdt: '10', pyusd: '10' });
    const wallet = payer.publicKey.toBase58();
    const before = { seller: held(payTo, token), payer: held(wallet, token), sol: sandbox.balance(wallet) };
    const created = await fixture().create({ token, amount, payer: wallet, memo: 'order 7', metadata: { order: '7' } });

    expect(created).toMatchObject({
      payment_id: expect.stringMatching(/^pay_[1-9A-HJ-NP-Za-km-z]{16,22}$/),
      transaction: { from: wallet, to: payTo, amount: Number(atomic) },
      network: 'solana-devnet',
      fee_payer: feePayer.publicKey.toBase58(),
      token,
      decimals,
    });
    expect(JSON.stringify(created.transaction.instructions)).toContain(created.reference);
    const told = {
      payment_id: created.payment_id,
      network: 'solana-devnet',
      token,
      decimals,
      amount: Number(atomic),
      recipient: payTo,
      split: [{ recipient: payTo, amount: Number(atomic) }],
      reference: created.reference,
      memo: 'order 7',
      metadata: { order: '7' },
      payer: wallet,
      expires_at: created.expires_at,
    };
    const fresh = await fixture().get(`/payments/${created.payment_id}`);
    expect(fresh).toMatchObject({ status: 200, body: { ...told, status: 'created', tx_signature: null } });

    const spent = sandbox.balance(feePayer.publicKey.toBase58());
    const settled = await fixture().settle(created.payment_id, signCreated(created, payer));
    expect(settled).toMatchObject({
      status: 200,
      body: {
        success: true,
        tx_signature: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{86,88}$/),
        block_number: expect.any(Number),
        gas_used: expect.any(Number),
        explorer_url: expect.stringMatching(/\/tx\/[1-9A-HJ-NP-Za-km-z]{86,88}$/),
        fee_lamports: expect.any(Number),
        status: 'confirmed',
      },
    });
    const { tx_signature, block_number, fee_lamports } = settled.body;
    expect(spent - sandbox.balance(feePayer.publicKey.toBase58())).toBe(BigInt(Number(fee_lamports)));
    expect(held(payTo, token) - before.seller).toBe(atomic);
    expect(before.payer - held(wallet, token)).toBe(atomic);
    if (token !== 'SOL') expect(sandbox.balance(wallet)).toBe(before.sol);

    const after = await fixture().get(`/payments/${created.payment_id}`);
    expect(after.body).toMatchObject({ ...told, status: 'settled', tx_signature, block_number, payer: wallet });
    const verified = await fixture().post('/verify', { tx_signature });
    expect(verified.body).toMatchObject({ verified: true, amount, token, from: wallet, to: payTo, block_number });
    const again = await fixture().settle(created.payment_id, signCreated(created, payer));
    expect([again.status, again.body]).toEqual([settled.status, settled.body]);
  });
});

test('any mint that passes the policy can be asked for by its address, Token-2022 too', async () => {
  const { sandbox, payTo } = fixture();
  for (const program of ['spl-token', 'token-2022'] as const) {
    const { mint } = sandbox.createMint({ decimals: 2, program });
    const payer = await sandbox.createWallet();
    sandbox.fundToken(payer.publicKey.toBase58(), mint, 1_000n);
    sandbox.fundToken(payTo, mint, 0n);
    const created = await fixture().create({ token: mint, amount: '1.25', payer: payer.publicKey.toBase58() });
    expect(created).toMatchObject({ token: mint, decimals: 2, transaction: { amount: 125 } });
    const settled = await fixture().settle(created.payment_id, signCreated(created, payer));
    expect(settled.status).toBe(200);
    expect(sandbox.tokenBalance(payTo, mint)).toBe(125n);
  }
});

test('an amount is read exactly, as a number and as text', async () => {
  for (const [amount, atomic] of [
    [0.1, 100_000],
    ['0.1', 100_000],
    [1e-6, 1],
    [123456.789012, 123_456_789_012],
  ]) {
    expect((await fixture().create({ amount })).transaction.amount).toBe(atomic);
  }
});

describe('a split', () => {
  test.each(['USDC', 'SOL'])('of %s pays every leg in one transaction, the odd units to the first', async (token) => {
    const { sandbox } = fixture();
    const wallets = await Promise.all([0, 1, 2].map(() => sandbox.createWallet({ sol: '0.01', usdc: '0' })));
    const recipients = wallets.map(({ publicKey }) => publicKey.toBase58());
    const payer = await sandbox.createWallet({ sol: '1', usdc: '10' });
    const before = recipients.map((it) => held(it, token));
    const split = recipients.map((recipient, index) => ({ recipient, bps: [3_334, 3_333, 3_333][index] }));
    const created = await fixture().create({
      token,
      amount: '0.001001',
      recipient: recipients[0],
      split,
      payer: payer.publicKey.toBase58(),
    });
    const settled = await fixture().settle(created.payment_id, signCreated(created, payer));

    expect(settled.status).toBe(200);
    const gained = recipients.map((it, index) => held(it, token) - before[index]!);
    const total = BigInt(created.transaction.amount);
    const share = (total * 3_333n) / 10_000n;
    expect(gained).toEqual([total - 2n * share, share, share]);
    const { body } = await fixture().get(`/payments/${created.payment_id}`);
    expect(body['split']).toEqual(recipients.map((recipient, index) => ({ recipient, amount: Number(gained[index]) })));
  });

  test('of eight with a full memo fits into one transaction', async () => {
    const { sandbox } = fixture();
    const recipients = Array.from({ length: 8 }, () => Keypair.generate().publicKey.toBase58());
    for (const it of recipients) sandbox.fundToken(it, fixture().facilitator.tokens[0]!.mint, 0n);
    const split = recipients.map((recipient) => ({ recipient, bps: 1_250 }));
    const created = await fixture().create({ recipient: recipients[0], split, memo: 'm'.repeat(256) });
    const settled = await fixture().settle(created.payment_id, signCreated(created, fixture().payer));

    expect(settled.status).toBe(200);
    expect(recipients.map((it) => held(it, 'USDC'))).toEqual(Array(8).fill(62_500n));
  });

  test('that does not fit because of token accounts to create is refused with what to do', async () => {
    const recipients = Array.from({ length: 8 }, () => Keypair.generate().publicKey.toBase58());
    const split = recipients.map((recipient) => ({ recipient, bps: 1_250 }));
    const payer = fixture().payer.publicKey.toBase58();
    const wanted = { amount: 1, token: 'USDC', recipient: recipients[0], split, memo: 'm'.repeat(256), payer };
    const { status, body } = await fixture().post('/create-payment', wanted);

    expect([status, body['code']]).toEqual([400, 'invalid_split']);
    expect(body['detail']).toContain('let the 8 of them without a token account create it first');
  });
});

describe('a recipient without a token account', () => {
  test.each(['USDC', 'PYUSD'])('gets one of %s at the cost of the payer, never ours', async (token) => {
    const { sandbox, feePayer } = fixture();
    const recipient = Keypair.generate().publicKey.toBase58();
    const payer = await sandbox.createWallet({ sol: '1', usdc: '10', pyusd: '10' });
    const created = await fixture().create({ token, recipient, payer: payer.publicKey.toBase58() });
    const ours = sandbox.balance(feePayer.publicKey.toBase58());
    const settled = await fixture().settle(created.payment_id, signCreated(created, payer));

    expect(settled.status).toBe(200);
    expect(held(recipient, token)).toBe(500_000n);
    const { mint, program } = fixture().facilitator.tokens.find(({ symbol }) => symbol === token)!;
    const rent = sandbox.account(associatedTokenAddress(recipient, mint, program))?.lamports ?? 0n;
    expect(rent).toBeGreaterThan(1_000_000n);
    expect(10n ** 9n - sandbox.balance(payer.publicKey.toBase58())).toBe(rent);
    expect(ours - sandbox.balance(feePayer.publicKey.toBase58())).toBe(BigInt(Number(settled.body['fee_lamports'])));
  });

  test('that gets one in the meantime is paid by the same transaction', async () => {
    const { sandbox } = fixture();
    const recipient = Keypair.generate().publicKey.toBase58();
    const created = await fixture().create({ recipient });
    sandbox.fundToken(recipient, fixture().facilitator.tokens[0]!.mint, 0n);

    expect((await fixture().settle(created.payment_id, signCreated(created, fixture().payer))).status).toBe(200);
    expect(held(recipient, 'USDC')).toBe(500_000n);
  });
});

describe('without a payer', () => {
  test.each([
    ['USDC', ['payer_token_account', undefined, undefined, 'payer', undefined]],
    ['SOL', ['payer', undefined, undefined]],
  ])('%s: the slots of the payer hold the placeholder and say what they are for', async (token, roles) => {
    const created = await fixture().create({ token, payer: undefined });
    const transfer = created.transaction.instructions.find(({ keys }) => keys.some(({ role }) => role !== undefined));

    expect(created.transaction.from).toBe(SYSTEM);
    expect(created.transaction.serialized).toBeUndefined();
    expect(transfer?.keys.map(({ role }) => role)).toEqual(roles);
    for (const { pubkey, role } of transfer?.keys ?? []) expect(pubkey === SYSTEM).toBe(role !== undefined);
  });

  test('the creation of a token account is outlined too', async () => {
    const recipient = Keypair.generate().publicKey.toBase58();
    const { transaction } = await fixture().create({ recipient, payer: undefined });
    const marked = transaction.instructions.map(({ keys }) => keys.flatMap(({ role }) => role ?? []));

    expect(marked).toEqual([[], [], ['payer'], ['payer_token_account', 'payer']]);
  });

  test('POST /payments/:id/transaction answers the finished one for any payer, at our cost', async () => {
    const { sandbox, payTo } = fixture();
    const payer = await sandbox.createWallet({ usdc: '1' });
    const { payment_id } = await fixture().create({ payer: undefined });
    const answer = await fixture().post(`/payments/${payment_id}/transaction`, { payer: payer.publicKey.toBase58() });
    const finished = answer.body as object as CreatedBody;

    expect(answer.status).toBe(200);
    expect(finished).toMatchObject({ payment_id, transaction: { from: payer.publicKey.toBase58(), to: payTo } });
    expect(JSON.stringify(finished)).not.toContain('role');
    expect((await fixture().settle(payment_id, signCreated(finished, payer))).status).toBe(200);
  });

  test('a client that fills in the placeholders by itself is paid for as well', async () => {
    const { sandbox, facilitator } = fixture();
    const payer = await sandbox.createWallet({ usdc: '1' });
    const wallet = payer.publicKey.toBase58();
    const created = await fixture().create({ payer: undefined });
    const { mint, program } = facilitator.tokens[0]!;
    const filled = { payer: wallet, payer_token_account: associatedTokenAddress(wallet, mint, program) };
    const instructions = created.transaction.instructions.map((it) => ({
      ...it,
      keys: it.keys.map((key) => (key.role === undefined ? key : { ...key, pubkey: Reflect.get(filled, key.role) })),
    }));
    const own = { ...created, transaction: { ...created.transaction, instructions } };

    const settled = await fixture().settle(created.payment_id, buildDraft(await fixture().draft(own, payer)));
    expect(settled.status).toBe(200);
  });
});

test('to a facilitator whose own wallet is the seller, SOL and tokens can be paid', async () => {
  const { sandbox, feePayer } = fixture();
  const recipient = feePayer.publicKey.toBase58();
  const payer = await sandbox.createWallet({ sol: '1', usdc: '1' });
  for (const token of ['SOL', 'USDC']) {
    const before = held(recipient, token);
    const created = await fixture().create({ token, recipient, payer: payer.publicKey.toBase58() });
    const settled = await fixture().settle(created.payment_id, signCreated(created, payer));
    const fee = token === 'SOL' ? BigInt(Number(settled.body['fee_lamports'])) : 0n;
    expect(settled.status).toBe(200);
    expect(held(recipient, token) - before).toBe(BigInt(created.transaction.amount) - fee);
  }
});

test('an unknown payment is 404 at every door', async () => {
  const { payment_id, ...created } = await fixture().create();
  const unknown = `${payment_id.slice(0, -2)}zz`;
  const wallet = fixture().payer.publicKey.toBase58();
  const answers = [
    await fixture().get(`/payments/${unknown}`),
    await fixture().settle(unknown, signCreated({ payment_id, ...created }, fixture().payer)),
    await fixture().post(`/payments/${unknown}/transaction`, { payer: wallet }),
    await fixture().post(`/payments/${unknown}/transaction`, { account: wallet }),
  ];
  for (const { status, body } of answers) expect([status, body['code']]).toEqual([404, 'payment_not_found']);
});
