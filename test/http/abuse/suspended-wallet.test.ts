import { Keypair, VersionedTransaction } from '@solana/web3.js';
import type { Request, Response } from 'express';
import { createGateway } from '../../../src/gateway/create-gateway.js';
import type { Gateway } from '../../../src/gateway/gateway.js';
import { AUTH_PATHS } from '../../../src/http/auth/schemas.js';
import { createRouter } from '../../../src/http/create-router.js';
import { createIdentity, type WalletIdentity } from '../../../src/identity/create-identity.js';
import { chargeCredit } from '../../../src/middleware/gate/request-properties.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { readTier } from '../../../src/middleware/wallet/read-tier.js';
import { requireTier } from '../../../src/middleware/wallet/require-tier.js';
import { requireTokenBalance } from '../../../src/middleware/wallet/require-token-balance.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import type { Storage } from '../../../src/storage/storage.js';
import { USDC } from '../../helpers/crash/crash-fixture.js';
import { SECRET } from '../../helpers/fixtures/identity-fixture.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { accessTokenFor, signIn } from '../../helpers/http/sign-in.js';
import { signPayment } from '../../helpers/transactions/payments.js';
import { walletKeyOf } from '../../helpers/transactions/wallet-key.js';

type Headers = Readonly<Record<string, string>>;

const OPERATOR = Keypair.generate().publicKey.toBase58();
const BY = { wallet: OPERATOR };

let fixture: TollFixture;
let storage: Storage;
let gateway: Gateway;
let identity: WalletIdentity;
let url: string;
/** What the handler behind `/slow` waits for. */
let inHandler: () => Promise<void>;
let served = 0;
/** How many the last stream has sent. */
let pieces = 0;

beforeAll(async () => {
  fixture = await openTollFixture({ maxBlockhashAgeBlocks: 10_000 });
  storage = await openStorage('memory:');
  const facilitator = fixture.facilitatorWith({ storage });
  gateway = createGateway({ facilitator, storage, operators: [OPERATOR] });
  // It is told of no storage: what holds at the gates is not its doing.
  identity = createIdentity({ network: facilitator.network, jwtSecret: SECRET, counters: storage.counters });
  const sold = { facilitator, identity, payTo: fixture.payTo, price: '$0.01' };
  const tiers = { mint: USDC, levels: [{ id: 'member', minBalance: 1 }] };
  const serve = (_req: Request, res: Response) => {
    served += 1;
    res.send('sold');
  };
  url = await fixture.serve((app) => {
    app.get('/after', requirePayment(sold), serve);
    app.get('/before', requirePayment({ ...sold, settle: 'before' }), serve);
    app.get('/slow', requirePayment(sold), (req, res, next) => {
      inHandler().then(() => serve(req, res), next);
    });
    app.get('/fails', requirePayment({ ...sold, settle: 'before' }), (req, res) => {
      if (req.query['now'] === undefined) serve(req, res);
      else res.status(500).send('broken');
    });
    app.get('/uses', requirePayment({ ...sold, pass: { uses: 50 } }), serve);
    app.get('/credit', requirePayment({ ...sold, price: '$0.50', pass: { credit: true, cost: '$0.01' } }), serve);
    const streamed = { credit: true, cost: '$0.01', stream: true } as const;
    app.get(
      '/stream',
      requirePayment({ ...sold, price: '$0.50', settle: 'before', pass: streamed }),
      async (req, res) => {
        for (pieces = 0; pieces < 20; pieces += 1) {
          if (pieces === 3) await inHandler();
          if (!(await chargeCredit(req, 10_000n))) return;
          res.write('piece');
        }
        res.end();
      },
    );
    app.get('/time', requirePayment({ ...sold, pass: { for: '30d' } }), serve);
    app.get('/free', requirePayment({ ...sold, holders: [{ mint: USDC, minBalance: 1, free: true }] }), serve);
    const allowance = { uses: 100, per: '30d' };
    app.get('/had', requirePayment({ ...sold, holders: [{ mint: USDC, minBalance: 1, allowance }] }), serve);
    app.get('/balance', requireTokenBalance({ facilitator, identity, mint: USDC, minBalance: 1 }), serve);
    app.get('/tier', requireTier({ facilitator, identity, tiers, tier: 'member' }), serve);
    app.get('/reads', readTier({ facilitator, identity, tiers }), serve);
    app.use(createRouter({ facilitator, gateway, identity, counters: storage.counters, limits: false }));
  });
});
beforeEach(() => {
  inHandler = async () => {};
});
afterAll(async () => {
  await gateway.close();
  await fixture.close();
  await storage.close();
});

async function newPayer() {
  const { sandbox } = fixture;
  const payer = await sandbox.createWallet({ usdc: '100', sol: '1' });
  const wallet = payer.publicKey.toBase58();
  const key = walletKeyOf(payer.secretKey.subarray(0, 32));
  const what = { kind: 'wallet', target: wallet } as const;
  return {
    payer,
    key,
    sign: (path: string) => signPayment({ sandbox, payer }, url + path),
    token: () => accessTokenFor(key, identity, url),
    signIn: (path: string) => signIn(key, url + path),
    held: () => sandbox.tokenBalance(wallet, USDC),
    suspend: () => gateway.operator.suspend(BY, what),
    resume: () => gateway.operator.resume(BY, what),
    async buy(path: string): Promise<string> {
      const bought = await get(path, (await signPayment({ sandbox, payer }, url + path)).v2);
      return bought.headers.get('access-pass') ?? '';
    },
  };
}

async function get(path: string, headers: Headers = {}) {
  const answer = await fetch(url + path, { headers });
  const text = await answer.text();
  const code: unknown = text.startsWith('{') ? JSON.parse(text).code : undefined;
  return { status: answer.status, code, headers: answer.headers };
}

const outcome = async (path: string, headers: Headers) => {
  const { status, code } = await get(path, headers);
  return [status, code];
};
const SUSPENDED = [403, 'wallet_suspended'];
const GOOD = [200, undefined];

describe('a wallet that the operator has suspended', () => {
  test.each(['/after', '/before', '/uses', '/credit', '/time', '/free'])(
    'pays nothing at %s, and pays again when it is resumed',
    async (path) => {
      const it = await newPayer();
      const { v2 } = await it.sign(path);
      await it.suspend();
      const [before, handled] = [it.held(), served];
      expect(await outcome(path, v2)).toEqual(SUSPENDED);
      expect([it.held(), served]).toEqual([before, handled]);
      await it.resume();
      expect(await outcome(path, v2)).toEqual(GOOD);
      expect(it.held()).toBeLessThan(before);
    },
  );

  test('is not charged for a request whose handler was at work when it was suspended', async () => {
    const it = await newPayer();
    const { v2 } = await it.sign('/slow');
    inHandler = async () => void (await it.suspend());
    const before = it.held();
    expect(await outcome('/slow', v2)).toEqual(SUSPENDED);
    expect(it.held()).toBe(before);
  });

  test('has what it has paid for before: a response that is owed is served once', async () => {
    const it = await newPayer();
    const { v2 } = await it.sign('/after');
    expect(await outcome('/after', v2)).toEqual(GOOD);
    await it.suspend();
    const [before, handled] = [it.held(), served];
    expect(await outcome('/after', v2)).toEqual(GOOD);
    expect([it.held(), served]).toEqual([before, handled]);
  });

  test.each(['/uses', '/credit', '/time'])('uses no pass that it has bought at %s, whatever shows it', async (path) => {
    const it = await newPayer();
    const token = await it.buy(path);
    const wallet = await it.token();
    const left = async () => (await get(path, { 'access-pass': token })).headers.get('access-pass-remaining');
    const before = await left();
    await it.suspend();
    for (const shown of [
      { 'access-pass': token },
      wallet,
      { ...wallet, 'access-pass': token },
      await it.signIn(path),
    ]) {
      expect(await outcome(path, shown)).toEqual(SUSPENDED);
    }
    await it.resume();
    expect(await outcome(path, { 'access-pass': token })).toEqual(GOOD);
    // Only the two looks of this test were debited.
    if (path === '/uses') expect(Number(before) - Number(await left())).toBe(2);
  });

  test.each(['by its payment', 'by its pass'])(
    'has a stream that is charged as it goes ended there, %s',
    async (how) => {
      const it = await newPayer();
      const shown = how === 'by its pass' ? { 'access-pass': await it.buy('/stream') } : (await it.sign('/stream')).v2;
      inHandler = async () => void (await it.suspend());
      await get('/stream', shown).catch(() => {});
      expect(pieces).toBe(3);
    },
  );

  test('uses no credit for a price that a failed request has left it', async () => {
    const it = await newPayer();
    const failed = await get('/fails?now', (await it.sign('/fails?now')).v2);
    const shown = { 'access-pass': failed.headers.get('access-pass') ?? '' };
    await it.suspend();
    expect(await outcome('/fails', shown)).toEqual(SUSPENDED);
    await it.resume();
    expect(await outcome('/fails', shown)).toEqual(GOOD);
  });

  test.each(['/balance', '/tier', '/reads', '/free', '/had'])('is let in by no sign-in at %s', async (path) => {
    const it = await newPayer();
    const token = await it.token();
    expect(await outcome(path, token)).toEqual(GOOD);
    const challenged = path === '/reads' ? '/tier' : path;
    const proof = await it.signIn(challenged);
    await it.suspend();
    const handled = served;
    expect(await outcome(path, token)).toEqual(SUSPENDED);
    expect(await outcome(challenged, proof)).toEqual(SUSPENDED);
    expect(served).toBe(handled);
    await it.resume();
    // It was not used up by that.
    expect(await outcome(challenged, proof)).toEqual(GOOD);
  });

  test('is verified and settled for no server elsewhere, which is told so as the protocol says', async () => {
    const it = await newPayer();
    const { transaction, accepted } = await it.sign('/after');
    await it.suspend();
    const before = it.held();
    const paymentPayload = {
      x402Version: 2,
      accepted,
      payload: { transaction: Buffer.from(transaction).toString('base64') },
    };
    const ask = async (path: string) => {
      const body = JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements: accepted });
      const answer = await fetch(url + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
      return (await answer.json()) as unknown;
    };
    expect(await ask('/verify')).toMatchObject({ isValid: false, invalidReason: 'wallet_suspended' });
    expect(await ask('/settle')).toMatchObject({ success: false, errorReason: 'wallet_suspended' });
    expect(it.held()).toBe(before);
  });

  test('settles no payment request, whoever has asked for it', async () => {
    const it = await newPayer();
    const post = async (path: string, wanted: object) => {
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(wanted) };
      const answer = await fetch(url + path, init);
      return { status: answer.status, body: (await answer.json()) as Readonly<Record<string, unknown>> };
    };
    const wanted = { amount: '0.01', token: 'USDC', recipient: fixture.payTo, payer: it.key.address };
    const { body } = await post('/create-payment', wanted);
    const { serialized } = body['transaction'] as { readonly serialized: string };
    const signed = VersionedTransaction.deserialize(Buffer.from(serialized, 'base64'));
    signed.sign([it.payer]);
    const signed_transaction = Buffer.from(signed.serialize()).toString('base64');
    const settle = () => post('/settle', { payment_id: body['payment_id'], signed_transaction });
    await it.suspend();
    const before = it.held();
    expect(await settle()).toMatchObject({ status: 403, body: { code: 'wallet_suspended' } });
    expect(it.held()).toBe(before);
    await it.resume();
    expect((await settle()).status).toBe(200);
  });

  test('renews no tokens with a refresh token, which is good again when it is resumed', async () => {
    const it = await newPayer();
    const { message, nonce } = await identity.issueChallenge(it.key.address, url);
    const grant = await identity.exchange({ wallet: it.key.address, nonce, signature: it.key.sign(message) });
    const renew = async () => {
      const body = JSON.stringify({ refresh_token: grant.refreshToken });
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
      return (await fetch(url + AUTH_PATHS.refresh, init)).status;
    };
    await it.suspend();
    expect(await renew()).toBe(403);
    await it.resume();
    expect(await renew()).toBe(200);
  });
});
