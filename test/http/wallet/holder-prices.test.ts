import type { Keypair } from '@solana/web3.js';
import type { Request, Response } from 'express';
import { createHoldings } from '../../../src/access/holdings.js';
import { passOf, tierOf, walletOf } from '../../../src/middleware/gate/request-properties.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import type { Storage } from '../../../src/storage/storage.js';
import { DAILY_EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { holderFetch, payingFetch } from '../../helpers/http/official-clients.js';
import { passAnswer } from '../../helpers/http/passes.js';
import { askChallenge, signIn } from '../../helpers/http/sign-in.js';
import { askTerms, signPayment } from '../../helpers/transactions/payments.js';
import { walletKeyOf } from '../../helpers/transactions/wallet-key.js';

const STRANGERS = 250_000n;
const GOLD = 1_000n;
const SILVER = 5_000n;

describe.each(DAILY_EXPRESSES)('prices of holders, %s', (_name, express) => {
  let fixture: TollFixture;
  let storage: Storage;
  let url: string;
  let club: string;
  let usdc: string;

  beforeAll(async () => {
    fixture = await openTollFixture({ maxBlockhashAgeBlocks: 5_000 });
    storage = await openStorage('memory:');
    const facilitator = fixture.facilitatorWith({ storage });
    usdc = facilitator.tokens.find(({ symbol }) => symbol === 'USDC')?.mint ?? '';
    club = fixture.sandbox.createMint({ decimals: 0 }).mint;
    const tiers = { mint: club, levels: ['silver', 'gold'].map((id, at) => ({ id, minBalance: 10 ** at })) };
    const holdings = createHoldings({ facilitator, staleMs: 0 });
    const sold = { facilitator, payTo: fixture.payTo, price: '$0.25' };
    const handler = (req: Request, res: Response) =>
      void res.json({ wallet: walletOf(req)?.address, tier: tierOf(req)?.id, pass: passOf(req)?.kind });
    url = await fixture.serve((app) => {
      const silver = { tier: 'silver', tiers, holdings };
      const holders = [
        { tier: 'gold', tiers, holdings, price: '$0.001' },
        { ...silver, price: '$0.005' },
      ];
      app.get('/report', requirePayment({ ...sold, holders }), handler);
      const member = { mint: club, minBalance: 1, holdings };
      app.get('/free', requirePayment({ ...sold, holders: [{ ...member, free: true }] }), handler);
      const pack = { price: '$0.01', pass: { uses: 3 } };
      const packs = [{ ...member, price: [{ price: '$0.005', pass: { uses: 3 } }] }];
      app.get('/pack', requirePayment({ ...sold, price: [pack, '$0.25'], holders: packs }), handler);
      app.get('/first', requirePayment({ ...sold, settle: 'before', holders }), handler);
      const allowance = { uses: 2, per: '30d' };
      app.get('/had', requirePayment({ ...sold, holders: [{ ...member, allowance }] }), handler);
      const shared = { ...member, price: '$0.005', allowance: { ...allowance, group: 'api' } };
      app.get(['/api/a', '/api/b'], requirePayment({ ...sold, holders: [shared] }), handler);
    }, express);
  });
  afterAll(async () => {
    await fixture.close();
    await storage.close();
  });

  async function wallet(tokens: bigint): Promise<Keypair> {
    const made = await fixture.sandbox.createWallet({ usdc: '10' });
    if (tokens > 0n) fixture.sandbox.fundToken(made.publicKey.toBase58(), club, tokens);
    return made;
  }
  const paidBy = (it: Keypair) => 10_000_000n - fixture.sandbox.tokenBalance(it.publicKey.toBase58(), usdc);
  const setupOf = (it: Keypair) => ({ wallet: it, rpcUrl: fixture.sandbox.rpcUrl });
  const proofOf = (it: Keypair, path: string) => signIn(walletKeyOf(it.secretKey.subarray(0, 32)), url + path);

  test('are told to strangers in words beside their own terms, with a way to sign in', async () => {
    const { accepts } = await askTerms(`${url}/report`);
    expect(accepts.map(({ amount }) => BigInt(amount))).toEqual([STRANGERS]);
    expect(await askChallenge(`${url}/report`)).toMatchObject({ extensions: { 'sign-in-with-x': expect.anything() } });
    expect(await (await fetch(`${url}/report`)).json()).toMatchObject({
      code: 'payment_required',
      detail: expect.stringContaining(
        'Sign in first where you hold something: for holders of the tier "gold" it is 0.001 USDC for 1 request; for holders of the tier "silver" it is 0.005 USDC for 1 request.',
      ),
    });
  });

  test.each([
    ['of the highest tier', 10n, GOLD, 'gold'],
    ['of a lower one', 1n, SILVER, 'silver'],
    ['of none', 0n, STRANGERS, undefined],
  ])('are paid by the official client that signs in first: of a wallet %s', async (_what, tokens, price, tier) => {
    const holder = await wallet(tokens);
    const official = await holderFetch(setupOf(holder));
    const answer = await official(`${url}/report`);
    expect([answer.status, paidBy(holder)]).toEqual([200, price]);
    expect(await answer.json()).toEqual({ wallet: holder.publicKey.toBase58(), tier });
  });

  test('are not paid by who does not sign in, holder or not', async () => {
    const holder = await wallet(10n);
    const official = await payingFetch(setupOf(holder));
    expect([(await official(`${url}/report`)).status, paidBy(holder)]).toEqual([200, STRANGERS]);
  });

  test('are taken from the wallet alone that has signed in, and from nobody who has proven nothing', async () => {
    const [holder, other] = [await wallet(10n), await wallet(0n)];
    const headers = await proofOf(holder, '/report');
    const { v2 } = await signPayment({ sandbox: fixture.sandbox, payer: other }, `${url}/report`, {
      init: { headers },
    });
    const refused = await fetch(`${url}/report`, { headers: { ...headers, ...v2 } });
    expect([refused.status, await refused.json()]).toEqual([
      402,
      expect.objectContaining({
        error: 'no_matching_requirements',
        detail: expect.stringContaining('Nothing was charged'),
      }),
    ]);
    const unproven = await fetch(`${url}/report`, { headers: v2 });
    const theirs = await signPayment({ sandbox: fixture.sandbox, payer: holder }, `${url}/report`, {
      init: { headers },
    });
    const unsigned = await fetch(`${url}/report`, { headers: theirs.v2 });
    expect([unproven.status, unsigned.status, paidBy(other), paidBy(holder)]).toEqual([402, 402, 0n, 0n]);
    const right = await fetch(`${url}/report`, { headers: { ...headers, ...theirs.v2 } });
    expect([right.status, paidBy(holder)]).toEqual([200, GOLD]);
    const next = await fetch(`${url}/report`, { headers: { ...(await proofOf(other, '/report')), ...v2 } });
    expect([next.status, paidBy(other)]).toEqual([402, 0n]);
  });

  test.each(['/report', '/first'])(
    'are paid once, and the response is had again without what was held: %s',
    async (path) => {
      const holder = await wallet(10n);
      const headers = await proofOf(holder, path);
      const { v2 } = await signPayment({ sandbox: fixture.sandbox, payer: holder }, url + path, { init: { headers } });
      const paid = await fetch(url + path, { headers: { ...headers, ...v2 } });
      fixture.sandbox.fundToken(holder.publicKey.toBase58(), club, 0n);
      const again = await fetch(url + path, { headers: v2 });
      expect([paid.status, again.status, await again.text()]).toEqual([200, 200, await paid.text()]);
      expect(paidBy(holder)).toBe(GOLD);
    },
  );

  test('are nothing where that is said, for one request', async () => {
    const holder = await wallet(1n);
    const headers = await proofOf(holder, '/free');
    const answer = await fetch(`${url}/free`, { headers });
    expect([answer.status, await answer.json()]).toEqual([200, { wallet: holder.publicKey.toBase58() }]);
    expect([(await fetch(`${url}/free`, { headers })).status, paidBy(holder)]).toEqual([401, 0n]);
  });

  test('buy what they say, and whatever was bought covers whoever shows it', async () => {
    const holder = await wallet(1n);
    const official = await holderFetch(setupOf(holder));
    const paid = await official(`${url}/pack`);
    const token = { 'access-pass': paid.headers.get('access-pass') ?? '' };
    expect([paid.headers.get('access-pass-remaining'), paidBy(holder)]).toEqual(['2', SILVER]);
    fixture.sandbox.fundToken(holder.publicKey.toBase58(), club, 0n);
    expect(await passAnswer(await fetch(`${url}/pack`, { headers: token }))).toEqual({ status: 200, left: '1' });
    expect([(await official(`${url}/pack`)).status, paidBy(holder)]).toEqual([200, SILVER]);
    const stranger = await wallet(0n);
    await (await payingFetch(setupOf(stranger)))(`${url}/pack`);
    expect(paidBy(stranger)).toBe(10_000n);
  });

  test('come after the allowance, which is had by signing in and by its token', async () => {
    const holder = await wallet(1n);
    const official = await holderFetch(setupOf(holder));
    const had = await official(`${url}/had`);
    expect([had.headers.get('access-pass-remaining'), await had.json()]).toEqual([
      '1',
      { wallet: holder.publicKey.toBase58(), pass: 'uses' },
    ]);
    const token = { 'access-pass': had.headers.get('access-pass') ?? '' };
    fixture.sandbox.fundToken(holder.publicKey.toBase58(), club, 0n);
    expect(await passAnswer(await fetch(`${url}/had`, { headers: token }))).toEqual({ status: 200, left: '0' });
    expect(paidBy(holder)).toBe(0n);
    expect([(await official(`${url}/had`)).status, paidBy(holder)]).toEqual([200, STRANGERS]);
    const stranger = await holderFetch(setupOf(await wallet(0n)));
    expect((await stranger(`${url}/had`)).headers.get('access-pass')).toBeNull();
  });

  test('come after the allowance of a group, which is one for many requests at once', async () => {
    const holder = await wallet(1n);
    const paths = Array.from({ length: 6 }, (_, at) => (at % 2 === 0 ? '/api/a' : '/api/b'));
    const proofs = await Promise.all(paths.map((path) => proofOf(holder, path)));
    const answers = await Promise.all(paths.map((path, at) => fetch(url + path, { headers: proofs[at]! })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 402, 402, 402, 402]);
    expect((await storage.passes.list(holder.publicKey.toBase58())).map(({ scope, left }) => [scope, left])).toEqual([
      ['group api', 0n],
    ]);
    const refused = answers.find(({ status }) => status === 402);
    expect(await refused?.json()).toMatchObject({ accepts: [{ maxAmountRequired: String(SILVER) }] });
  });
});
