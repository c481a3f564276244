import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { oweCredit } from '../helpers/fixtures/owed-credit.js';
import { openTollFixture, type TollFixture } from '../helpers/fixtures/toll-fixture.js';
import { buildPackage } from '../helpers/processes/built-package.js';
import { testFolder } from '../helpers/processes/test-folder.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const PRICE = 10_000n;
const folder = testFolder();

describe('tollhouse refund, run by several at once of whom some are stopped', () => {
  let fixture: TollFixture;
  let wallet: Keypair;
  let built = '';

  beforeAll(async () => {
    [built, fixture] = await Promise.all([buildPackage(), openTollFixture()]);
    wallet = await fixture.sandbox.createWallet({ usdc: '5' });
  });
  afterAll(async () => {
    rmSync(built, { recursive: true, force: true });
    await fixture.close();
  });

  test.each(['SIGKILL', 'SIGINT'] as const)('pays once, where they are stopped by %s', async (signal) => {
    const url = `sqlite:${folder.newPath('db')}`;
    const paymentId = await oweCredit(fixture, url);
    const env = {
      ...process.env,
      DATABASE_URL: url,
      SOLANA_NETWORK: 'solana-devnet',
      SOLANA_RPC_URL: fixture.sandbox.rpcUrl,
      FACILITATOR_KEYPAIR: bs58.encode(fixture.feePayer.secretKey),
      REFUND_KEYPAIR: bs58.encode(wallet.secretKey),
    };
    const held = () => fixture.sandbox.tokenBalance(fixture.payer.publicKey.toBase58(), USDC);
    const before = held();
    const sent = () => fixture.sandbox.calls['sendTransaction'] ?? 0;
    const start = () => spawn(process.execPath, [join(built, 'cli.js'), 'refund', paymentId], { env, stdio: 'ignore' });
    const sentBefore = sent();
    const first = [start(), start(), start()];
    const ends = first.map((it) => once(it, 'exit'));
    // Sent, and perhaps not noted as paid.
    const timer = setInterval(() => {
      if (sent() === sentBefore) return;
      clearInterval(timer);
      for (const it of first.slice(0, 2)) it.kill(signal);
    }, 1);
    await Promise.all(ends);
    clearInterval(timer);
    for (let at = 0; at < 3; at += 1) await once(start(), 'exit');
    await Promise.all([start(), start()].map((it) => once(it, 'exit')));
    expect(held() - before).toBe(PRICE);
  });
});
