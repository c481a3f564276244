import {
  createApproveCheckedInstruction,
  createAssociatedTokenAccountIdempotentInstruction,
  createTransferCheckedInstruction,
  createTransferInstruction,
} from '@solana/spl-token';
import {
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import express from 'express';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { memoInstruction } from '../../src/solana/building/memo.js';
import { associatedTokenAddress } from '../../src/solana/transaction/associated-token.js';
import { PROGRAMS } from '../../src/solana/transaction/programs.js';
import { type CliFixture, openCliFixture } from '../helpers/fixtures/cli-fixture.js';
import { serveApp } from '../helpers/http/app-server.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const DECIMALS = 6;
const USDC_HELD = 20_000_000n;

describe('a server that has a wallet sign something else than what was asked', () => {
  let fixture: CliFixture;
  let sandbox: Sandbox;
  let other: string;
  const [thief, recipient] = [Keypair.generate().publicKey, Keypair.generate().publicKey];

  beforeAll(async () => {
    fixture = await openCliFixture();
    if (fixture.server.chain.sandbox === undefined) throw new Error('there is no sandbox');
    ({ sandbox } = fixture.server.chain);
    ({ mint: other } = sandbox.createMint({ decimals: DECIMALS }));
  });
  afterAll(() => fixture.close());

  const account = (wallet: PublicKey, mint = USDC) =>
    new PublicKey(associatedTokenAddress(wallet.toBase58(), mint, PROGRAMS.token));
  const transfer = (from: PublicKey, to: PublicKey, amount: bigint, mint = USDC) =>
    createTransferCheckedInstruction(
      account(from, mint),
      new PublicKey(mint),
      account(to, mint),
      from,
      amount,
      DECIMALS,
    );
  const sol = (fromPubkey: PublicKey, toPubkey: PublicKey) =>
    SystemProgram.transfer({ fromPubkey, toPubkey, lamports: 2_000_000_000n });
  const asked = (payer: PublicKey) => transfer(payer, recipient, 10_000n);

  /** Pays through a server that answers with a transaction of these instructions, and tells what it was given. */
  async function pay(make: (payer: PublicKey) => TransactionInstruction[], isSelfPaid = false) {
    const wallet = await sandbox.createWallet({ sol: '3', usdc: '20' });
    sandbox.fundToken(wallet.publicKey.toBase58(), other, 5n);
    const feePayer = isSelfPaid ? wallet.publicKey : Keypair.generate().publicKey;
    const given: unknown[] = [];
    const server = await serveApp((app) => {
      app.use(express.json());
      app.post('/create-payment', (_req, res) => {
        const message = new TransactionMessage({
          payerKey: feePayer,
          recentBlockhash: Keypair.generate().publicKey.toBase58(),
          instructions: make(wallet.publicKey),
        });
        const bytes = new VersionedTransaction(message.compileToV0Message()).serialize();
        const transaction = { serialized: Buffer.from(bytes).toString('base64') };
        res.json({ payment_id: 'pay_1', solana_pay_url: 'solana:x', transaction });
      });
      app.use((req, res) => {
        given.push(req.body);
        res.json({ success: true, tx_signature: 'x', explorer_url: 'https://explorer.solana.com' });
      });
    });
    const what = ['--amount', '0.01', '--token', 'USDC', '--recipient', recipient.toBase58()];
    const from = ['--keypair', fixture.keyFile(wallet), '--server', server.url];
    const { code, text } = await fixture.run('create-payment', ...what, ...from);
    await server.close();
    return { code, text, given };
  }

  test.each<[string, (payer: PublicKey) => TransactionInstruction[]]>([
    ['another recipient', (payer) => [transfer(payer, thief, 10_000n)]],
    ['more', (payer) => [transfer(payer, recipient, 20_000_000n)]],
    ['SOL beside it', (payer) => [asked(payer), sol(payer, thief)]],
    ['another token beside it', (payer) => [asked(payer), transfer(payer, thief, 5n, other)]],
    ['another token in its place', (payer) => [transfer(payer, recipient, 10_000n, other)]],
    [
      'a transfer that names no mint',
      (payer) => [createTransferInstruction(account(payer), account(thief), payer, 10_000n)],
    ],
    [
      'the right to spend beside it',
      (payer) => [
        asked(payer),
        createApproveCheckedInstruction(account(payer), new PublicKey(USDC), thief, payer, USDC_HELD, DECIMALS),
      ],
    ],
    [
      'an account of somebody else beside it',
      (payer) => [
        asked(payer),
        createAssociatedTokenAccountIdempotentInstruction(payer, account(thief), thief, new PublicKey(USDC)),
      ],
    ],
    ['a memo beside it', (payer) => [asked(payer), memoInstruction('for the account of a thief')]],
    ['nothing of what was asked', () => [ComputeBudgetProgram.setComputeUnitLimit({ units: 1 })]],
  ])('is given nothing for %s, and the reason is told', async (_what, make) => {
    const { code, text, given } = await pay(make);
    expect([code, given]).toEqual([1, []]);
    expect(text).toMatch(
      /the server has prepared something else than a payment of 0\.01 USDC|does not ask for this wallet/,
    );
  });

  test('is given nothing where the wallet is to pay the network fee as well', async () => {
    const { code, text, given } = await pay((payer) => [asked(payer)], true);
    expect([code, given]).toEqual([1, []]);
    expect(text).toContain('its network fee is to be paid by your wallet');
  });

  test('is given what was asked, with the account that the recipient needs', async () => {
    const { code, given } = await pay((payer) => [
      createAssociatedTokenAccountIdempotentInstruction(payer, account(recipient), recipient, new PublicKey(USDC)),
      asked(payer),
    ]);
    expect([code, given.length]).toEqual([0, 1]);
  });

  test('cannot steer a terminal by what it answers, and programs read it as it was', async () => {
    const answer = { data: [{ name: 'first\u001b[2J\u009b2J\u202egnp.exe' }] };
    const server = await serveApp((app) => app.use((_req, res) => void res.json(answer)));
    const { out } = await fixture.run('marketplace', '--server', server.url, '--json');
    await server.close();
    expect(JSON.parse(out)).toEqual(answer);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what must not be there
    expect(out).not.toMatch(/[\u001b\u009b\u202e]/);
  });

  test.each(['SOL', 'usdc', 'the mint'])(
    'is not taken for one that is honest: %s is paid, with a memo',
    async (token) => {
      const wallet = await sandbox.createWallet({ sol: '3', usdc: '20' });
      sandbox.fundToken(wallet.publicKey.toBase58(), other, 5_000_000n);
      const to = Keypair.generate().publicKey.toBase58();
      const what = [
        '--amount',
        '0.5',
        '--token',
        token === 'the mint' ? other : token,
        '--recipient',
        to,
        '--memo',
        'thanks',
      ];
      const from = ['--keypair', fixture.keyFile(wallet), '--server', fixture.server.url];
      expect(await fixture.run('create-payment', ...what, ...from)).toMatchObject({ code: 0 });
      if (token === 'usdc') expect(sandbox.tokenBalance(to, USDC)).toBe(500_000n);
      if (token === 'the mint') expect(sandbox.tokenBalance(to, other)).toBe(500_000n);
    },
  );
});
