import type { Keypair } from '@solana/web3.js';
import type { Request, Response } from 'express';
import { passOf } from '../../../src/middleware/gate/request-properties.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import type { Storage } from '../../../src/storage/storage.js';
import { newClaim } from '../../contracts/ledger-samples.js';
import { DAILY_EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { signingFetch } from '../../helpers/http/official-clients.js';
import { buyPass } from '../../helpers/http/passes.js';
import { signIn } from '../../helpers/http/sign-in.js';
import { walletKeyOf } from '../../helpers/transactions/wallet-key.js';

const USES = 100;

describe.each(DAILY_EXPRESSES)('a pass that a wallet has paid for, %s', (_name, express) => {
  let fixture: TollFixture;
  let url: string;
  let mint: string;
  let storage: Storage;

  beforeAll(async () => {
    fixture = await openTollFixture();
    // A hint is asked for in the background, which is no call for a request.
    storage = await openStorage('memory:');
    const facilitator = fixture.facilitatorWith({ blockhashHints: false, storage });
    const { payTo } = fixture;
    mint = facilitator.tokens.find(({ symbol }) => symbol === 'USDC')?.mint ?? '';
    const send = (_req: Request, res: Response) => void res.send('good');
    url = await fixture.serve((app) => {
      const gate = requirePayment({ facilitator, price: '0.50 USDC', payTo, pass: { uses: USES } });
      app.get('/report/:id', gate, (req: Request, res: Response) => {
        const { kind, left, wallet } = passOf(req) ?? {};
        res.json({ id: req.params['id'], kind, left: Number(left), wallet });
      });
      app.get('/one/:id', requirePayment({ facilitator, price: '0.50 USDC', payTo, pass: { uses: 3 } }), send);
      const [single, pack] = ['$0.01', { price: '$0.02', pass: { uses: 2 } }] as const;
      app.get('/pack-first', requirePayment({ facilitator, payTo, price: [pack, single] }), send);
      app.get('/single-first', requirePayment({ facilitator, payTo, price: [single, pack] }), send);
    }, express);
  });
  afterAll(() => fixture.close());

  test('which is asked to pay has used up its sign-in with that, and nobody else comes in with it', async () => {
    const { payer, sandbox } = fixture;
    const sent: string[] = [];
    const official = await signingFetch({ wallet: payer, rpcUrl: sandbox.rpcUrl }, async (input, init) => {
      const request = new globalThis.Request(input, init);
      const proof = request.headers.get('sign-in-with-x');
      if (proof !== null) sent.push(proof);
      return fetch(request);
    });
    expect((await official(`${url}/one/a`)).status).toBe(200);
    const [proof = ''] = sent;
    const seen = await fetch(`${url}/one/a`, { headers: { 'sign-in-with-x': proof } });
    expect([seen.status, await seen.json()]).toEqual([402, expect.objectContaining({ error: 'sign_in_replayed' })]);
    expect([(await official(`${url}/one/a`)).headers.get('access-pass-remaining'), sent.length]).toEqual(['1', 2]);
  });

  test('is what the official client buys where it stands first, and not where a single request does', async () => {
    const wallet = await fixture.sandbox.createWallet({ usdc: '2' });
    const official = await signingFetch({ wallet, rpcUrl: fixture.sandbox.rpcUrl });
    const left = async (path: string) => (await official(url + path)).headers.get('access-pass-remaining');
    expect([await left('/pack-first'), await left('/pack-first')]).toEqual(['1', '0']);
    expect([await left('/single-first'), await left('/single-first')]).toEqual([null, null]);
  });

  test.each([
    ['garbage', 'an old token'],
    ['of somebody else', 'theirs'],
  ])('is found by its wallet, whatever token comes beside the sign-in: one %s', async (_what, shown) => {
    const { sandbox } = fixture;
    const [wallet, other] = [await sandbox.createWallet({ usdc: '2' }), await sandbox.createWallet({ usdc: '2' })];
    const [official, theirs] = await Promise.all(
      [wallet, other].map((it) => signingFetch({ wallet: it, rpcUrl: sandbox.rpcUrl })),
    );
    const token = (await theirs!(`${url}/one/a`)).headers.get('access-pass') ?? '';
    expect((await official!(`${url}/one/a`)).headers.get('access-pass-remaining')).toBe('2');
    const headers = { 'access-pass': shown === 'theirs' ? token : shown };
    // A token of somebody else covers the route by itself.
    const answer = await official!(`${url}/one/a`, { headers });
    expect([answer.status, answer.headers.get('access-pass-remaining')]).toEqual([200, '1']);
    const spent = 2_000_000n - sandbox.tokenBalance(wallet.publicKey.toBase58(), mint);
    expect(spent).toBe(500_000n);
  });

  test('is not sold twice to who signs in while the payment for it is on its way, and is another to others', async () => {
    const { ledger, wallet } = { ledger: storage.ledger, wallet: await fixture.sandbox.createWallet({ usdc: '2' }) };
    const payer = wallet.publicKey.toBase58();
    const buys = {
      site: `${fixture.payTo} solana-devnet`,
      scope: 'GET /one/:id',
      kind: 'uses',
      bought: 3n,
      left: 2n,
    } as const;
    const claim = newClaim({ payer, buys });
    await ledger.claim(claim);
    await ledger.recordBroadcast(claim.id, claim.lease, {});
    const comeIn = async (it: Keypair, path: string) => {
      const headers = await signIn(walletKeyOf(it.secretKey.subarray(0, 32)), url + path);
      return fetch(url + path, { headers });
    };
    const pending = await comeIn(wallet, '/one/a');
    expect([pending.status, pending.headers.get('retry-after')]).toEqual([503, '2']);
    expect(await pending.json()).toMatchObject({ code: 'settlement_pending' });
    const elsewhere = await comeIn(wallet, '/report/a');
    const somebodyElse = await comeIn(await fixture.sandbox.createWallet({ usdc: '2' }), '/one/a');
    expect([elsewhere.status, somebodyElse.status]).toEqual([402, 402]);
  });

  test('is not sold twice where the payment is written down just between two looks', async () => {
    const wallet = await fixture.sandbox.createWallet({ usdc: '2' });
    const real = fixture.facilitatorWith({ storage });
    let buy: (() => Promise<unknown>) | undefined;
    const isBuying: typeof real.isBuying = async (wanted) => {
      const buyOnce = buy;
      buy = undefined;
      await buyOnce?.();
      return real.isBuying(wanted);
    };
    const sold = { payTo: fixture.payTo, price: '0.50 USDC', pass: { uses: 3 } };
    const gate = requirePayment({ facilitator: { ...real, isBuying }, ...sold });
    const send = (_req: Request, res: Response) => void res.send('good');
    const shop = await fixture.serve((app) => app.get('/race', gate, send), express);
    const headers = await signIn(walletKeyOf(wallet.secretKey.subarray(0, 32)), `${shop}/race`);
    buy = () => buyPass({ sandbox: fixture.sandbox, payer: wallet }, `${shop}/race`);
    const answer = await fetch(`${shop}/race`, { headers });
    expect([answer.status, answer.headers.get('access-pass-remaining'), buy]).toEqual([200, '1', undefined]);
  });

  const received = () => fixture.sandbox.tokenBalance(fixture.payTo, mint);

  test('is paid for once by the official client, which comes in by signing for the rest of its uses', async () => {
    const { payer, sandbox } = fixture;
    const official = await signingFetch({ wallet: payer, rpcUrl: sandbox.rpcUrl });
    const before = received();
    const paid = await official(`${url}/report/0`);
    expect([paid.status, paid.headers.get('access-pass-remaining')]).toEqual([200, String(USES - 1)]);
    expect(received() - before).toBe(500_000n);

    sandbox.resetCalls();
    for (let at = 1; at < USES; at += 1) {
      const answer = await official(`${url}/report/${at}`);
      const left = USES - 1 - at;
      expect([answer.status, answer.headers.get('access-pass-remaining')]).toEqual([200, String(left)]);
      expect(await answer.json()).toEqual({ id: String(at), kind: 'uses', left, wallet: payer.publicKey.toBase58() });
    }
    // The 402 that comes before each sign-in has a blockhash, which is asked for now and then.
    const { total, getLatestBlockhash = 0 } = sandbox.calls;
    expect([received() - before, total - getLatestBlockhash]).toEqual([500_000n, 0]);

    const next = await official(`${url}/report/next`);
    expect([next.status, next.headers.get('access-pass-remaining')]).toEqual([200, String(USES - 1)]);
    expect(received() - before).toBe(1_000_000n);
  });
});
