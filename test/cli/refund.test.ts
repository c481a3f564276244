import { existsSync } from 'node:fs';
import type { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { reconcileCommand } from '../../src/cli/books/reconcile.js';
import { refundCommand } from '../../src/cli/books/refund.js';
import type { Command } from '../../src/cli/command.js';
import { oweCredit } from '../helpers/fixtures/owed-credit.js';
import { openTollFixture, type TollFixture } from '../helpers/fixtures/toll-fixture.js';
import { runCommand } from '../helpers/processes/run-command.js';
import type { Ended } from '../helpers/processes/run-file.js';
import { testFolder } from '../helpers/processes/test-folder.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const PRICE = 10_000n;
const folder = testFolder();

describe('tollhouse refund', () => {
  let fixture: TollFixture;
  let wallet: Keypair;
  let url: string;
  let paymentId: string;

  beforeAll(async () => {
    fixture = await openTollFixture();
    wallet = await fixture.sandbox.createWallet({ usdc: '5' });
    url = `sqlite:${folder.newPath('db')}`;
    paymentId = await oweCredit(fixture, url);
  });
  afterAll(() => fixture.close());

  const held = () => fixture.sandbox.tokenBalance(fixture.payer.publicKey.toBase58(), USDC);

  const run = (command: Command, more: NodeJS.ProcessEnv, args: readonly string[]): Promise<Ended> =>
    runCommand(
      command,
      {
        DATABASE_URL: url,
        SOLANA_NETWORK: 'solana-devnet',
        SOLANA_RPC_URL: fixture.sandbox.rpcUrl,
        FACILITATOR_KEYPAIR: bs58.encode(fixture.feePayer.secretKey),
        REFUND_KEYPAIR: bs58.encode(wallet.secretKey),
        ...more,
      },
      args,
    );
  const tollhouse = (more: NodeJS.ProcessEnv, ...args: readonly string[]) => run(refundCommand, more, args);

  test('refuses what is more than one refund may pay, and pays nothing', async () => {
    const before = held();
    const { code, text } = await tollhouse({ REFUND_MAX: '$0.005' }, paymentId);
    expect([code, text]).toEqual([1, expect.stringContaining('nothing was refunded: 10000 atomic units are left')]);
    expect(held()).toBe(before);
  });

  test('says that its wallet holds too little, and leaves the credit as it was', async () => {
    const empty = await fixture.sandbox.createWallet({ usdc: '0' });
    const { code, text } = await tollhouse({ REFUND_KEYPAIR: bs58.encode(empty.secretKey) }, paymentId);
    expect([code, text]).toEqual([
      1,
      expect.stringMatching(
        /^failed .+: the refund wallet holds too little \(refund_wallet_short\); what is left is good again\n$/,
      ),
    ]);
  });

  test('pays what a failed request has left, once, and says so', async () => {
    const before = held();
    const { code, text } = await tollhouse({}, paymentId);
    const payer = fixture.payer.publicKey.toBase58();
    expect([code, text]).toEqual([
      0,
      expect.stringMatching(new RegExp(`^refunded +0.01 USDC to ${payer}, \\w{80,90}\n$`)),
    ]);
    expect(held() - before).toBe(PRICE);
    const again = await tollhouse({}, paymentId, '--json');
    expect([again.code, JSON.parse(again.text)]).toMatchObject([1, { error: { code: 'nothing_to_refund' } }]);
    expect(held() - before).toBe(PRICE);
    expect(await run(reconcileCommand, {}, [])).toMatchObject({ code: 0 });
  });

  test('lets go of the database where its keys cannot be used', async () => {
    const REFUND_KEYPAIR = bs58.encode(fixture.feePayer.secretKey);
    const { code, text } = await tollhouse({ REFUND_KEYPAIR }, paymentId);
    expect([code, text]).toEqual([2, expect.stringContaining('must be a key that pays nothing else')]);
    // SQLite removes it with the last connection.
    expect(existsSync(`${url.slice('sqlite:'.length)}-wal`)).toBe(false);
  });

  test('says what is missing: a payment of the books, its id, and the wallet that pays', async () => {
    expect(await tollhouse({}, 'none')).toMatchObject({ code: 1, text: expect.stringContaining('no payment none') });
    await expect(tollhouse({})).rejects.toThrow('one payment at a time: npx tollhouse refund <payment>');
    await expect(tollhouse({ REFUND_KEYPAIR: undefined }, paymentId)).rejects.toThrow('REFUND_KEYPAIR');
  });
});
