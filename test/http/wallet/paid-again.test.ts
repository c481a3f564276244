import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Keypair } from '@solana/web3.js';
import { createSIWxClientExtension, type SIWxSigner, wrapFetchWithSIWx } from '@x402/extensions/sign-in-with-x';
import { wrapFetchWithPayment } from '@x402/fetch';
import type { Express, RequestHandler } from 'express';
import { createHoldings } from '../../../src/access/holdings.js';
import type { EmbeddedFacilitator } from '../../../src/facilitator/create-facilitator.js';
import { createIdentity, type WalletIdentity } from '../../../src/identity/create-identity.js';
import { createEd25519Signer } from '../../../src/lib/ed25519/ed25519.js';
import { anyOf } from '../../../src/middleware/gate/any-of.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { readTier } from '../../../src/middleware/wallet/read-tier.js';
import { requireTier } from '../../../src/middleware/wallet/require-tier.js';
import { requireTokenBalance } from '../../../src/middleware/wallet/require-token-balance.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import type { Storage } from '../../../src/storage/storage.js';
import { SECRET } from '../../helpers/fixtures/identity-fixture.js';
import { DAILY_EXPRESSES, openTollFixture, QUICK, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { clientV2, type Fetch, payingFetch } from '../../helpers/http/official-clients.js';
import { accessTokenFor, signIn } from '../../helpers/http/sign-in.js';
import { testFolder } from '../../helpers/processes/test-folder.js';
import { walletKeyOf } from '../../helpers/transactions/wallet-key.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const PRICE = 250_000n;
const MEMBERS_PRICE = 240_000n;
const folder = testFolder();

/** A client that signs in and pays, made of published parts, on a fetch that is listened in to. */
type Client = (wallet: Keypair, through: Fetch) => Promise<Fetch>;

function signerOf({ publicKey, secretKey }: Keypair): SIWxSigner {
  const { sign } = createEd25519Signer(secretKey.subarray(0, 32));
  return { publicKey: publicKey.toBase58(), signMessage: async (message: Uint8Array) => sign(message) };
}

/** The request that was paid with, as it was sent, and what it got. */
interface Paid {
  readonly request: Request;
  readonly status: number;
  readonly text: string;
  /** Sends the very same request again. */
  again(change?: {
    readonly to?: string;
    readonly method?: string;
    readonly headers?: Record<string, string>;
  }): Promise<{
    readonly status: number;
    readonly text: string;
  }>;
}

/** Sends a request with headers that `fetch` would make itself, such as Host. */
async function send(url: string, method: string, headers: Record<string, string>, body?: string) {
  const sent = request(url, { method, headers, agent: false }).end(body);
  const [answer]: IncomingMessage[] = await once(sent, 'response');
  if (answer === undefined) throw new Error(`${url} did not answer`);
  return { status: answer.statusCode ?? 0, text: await text(answer) };
}

describe.each(DAILY_EXPRESSES)('who has paid behind a gate for wallets and lost the response, %s', (_name, express) => {
  let fixture: TollFixture;
  let storages: Storage[];
  /** Two instances, which share a database. */
  let urls: string[];
  let identity: WalletIdentity;
  let runs: number;
  let failures: number;

  const handler: RequestHandler = ({ wallet, tier, payment }, res) => {
    runs += 1;
    failures -= 1;
    if (failures >= 0) return void res.status(500).json({ run: runs });
    res.json({ run: runs, wallet: wallet?.address, tier: tier?.id, payer: payment?.payer });
  };

  const CLIENTS: Readonly<Record<string, Client>> = {
    'payment around sign-in': (wallet, through) =>
      payingFetch({ wallet, rpcUrl: fixture.sandbox.rpcUrl }, wrapFetchWithSIWx(through, signerOf(wallet))),
    'payment with the sign-in extension': async (wallet, through) => {
      const client = await clientV2({ wallet, rpcUrl: fixture.sandbox.rpcUrl });
      const extension = createSIWxClientExtension({ signers: [signerOf(wallet)] });
      return wrapFetchWithPayment(through, client.registerExtension(extension));
    },
    'payment with an access token': async (wallet, through) => {
      const token = await accessTokenFor(walletKeyOf(wallet.secretKey.subarray(0, 32)), identity, urls[0] ?? '');
      const pay = await payingFetch({ wallet, rpcUrl: fixture.sandbox.rpcUrl }, through);
      return (input, init) => pay(input, { ...init, headers: { ...init?.headers, ...token } });
    },
  };

  function routes(app: Express, facilitator: EmbeddedFacilitator, made: WalletIdentity): void {
    const common = { facilitator, identity: made, holdings: createHoldings({ facilitator, staleMs: 0 }) };
    const holders = requireTokenBalance({ ...common, mint: 'USDC', minBalance: 5 });
    const tiers = { levels: [{ id: 'member', minBalance: 5 }] };
    const members = requireTier({ ...common, tiers });
    const rich = requireTokenBalance({ ...common, mint: 'USDC', minBalance: 1_000 });
    const pay = requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.25' });
    const payFirst = requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.25', settle: 'before' });
    const price = (req: { readonly tier?: unknown }) => (req.tier === undefined ? '$0.25' : '$0.24');
    const byTier = requirePayment({ facilitator, payTo: fixture.payTo, price });
    app.all('/both', holders, pay, handler);
    app.all('/other', holders, pay, handler);
    app.get('/first', holders, payFirst, handler);
    app.get('/row', holders, members, pay, handler);
    app.get('/any', anyOf(rich, members), pay, handler);
    app.use('/mounted', holders);
    app.get('/mounted', pay, handler);
    app.get('/by-tier', readTier({ ...common, tiers }), byTier, handler);
    app.get('/club', holders, handler);
    app.get('/alone', pay, handler);
  }

  beforeAll(async () => {
    fixture = await openTollFixture({ maxBlockhashAgeBlocks: 5_000 });
    const url = `sqlite:${folder.newPath('db')}`;
    storages = [await openStorage(url), await openStorage(url)];
    const instances = storages.map((storage) => fixture.facilitatorWith({ storage, settleTimeoutMs: 1_000 }, QUICK));
    const identities = instances.map((facilitator) => createIdentity({ facilitator, jwtSecret: SECRET }));
    identity = identities[0] as WalletIdentity;
    urls = [];
    for (const [at, facilitator] of instances.entries()) {
      urls.push(await fixture.serve((app) => routes(app, facilitator, identities[at] as WalletIdentity), express));
    }
  });
  afterAll(async () => {
    await fixture.close();
    for (const storage of storages) await storage.close();
  });
  beforeEach(() => {
    runs = 0;
    failures = 0;
  });
  afterEach(() => {
    fixture.sandbox.faults.clear();
    fixture.sandbox.resumeSlots();
  });

  const received = () => fixture.sandbox.tokenBalance(fixture.payTo, USDC);
  /** Holds enough, until it has paid. */
  const holder = () => fixture.sandbox.createWallet({ usdc: '5.2' });

  /** Pays at the first instance, whose address clients know by the Host header of the other as well. */
  async function payAt(
    path: string,
    client: Client,
    wallet: Keypair,
    init: RequestInit = {},
    atPayment = () => {},
  ): Promise<Paid> {
    let sent: Request | undefined;
    const listening: Fetch = async (input, more) => {
      const asked = new Request(input, more);
      if (asked.headers.has('payment-signature')) {
        atPayment();
        sent = asked.clone();
      }
      return fetch(asked);
    };
    const answer = await (await client(wallet, listening))(`${urls[0]}${path}`, init);
    const paidWith = sent;
    if (paidWith === undefined) throw new Error(`${path} was not paid: ${answer.status} ${await answer.text()}`);
    return {
      request: paidWith,
      status: answer.status,
      text: await answer.text(),
      async again({ to = paidWith.url, method = paidWith.method, headers = {} } = {}) {
        const body = method === 'POST' ? await paidWith.clone().text() : undefined;
        const all = { ...Object.fromEntries(paidWith.headers), ...headers };
        return send(to, method, all, body);
      },
    };
  }

  const PATHS = ['/both', '/both?page=1', '/first', '/row', '/any', '/mounted'];
  const CASES = Object.entries(CLIENTS).flatMap(([what, client]) =>
    // The extension pays the first 402, and a gate that is mounted knows no price.
    PATHS.filter((path) => path !== '/mounted' || what !== 'payment with the sign-in extension').map(
      (path) => [what, path, client] as const,
    ),
  );

  test.each(CASES)(
    'has it again with the same request, with %s at %s, though the price has taken what it holds',
    async (_what, path, client) => {
      const [before, wallet] = [received(), await holder()];
      const paid = await payAt(path, client, wallet);
      expect(paid).toMatchObject({ status: 200, text: expect.stringContaining('"run":1') });
      const again = [await paid.again(), await paid.again()];

      expect(again).toEqual([paid, paid].map(({ status, text }) => ({ status, text })));
      expect(runs).toBe(1);
      expect(received() - before).toBe(PRICE);
    },
  );

  test('has it again where the price goes by tier', async () => {
    const [before, wallet] = [received(), await holder()];
    const paid = await payAt('/by-tier', CLIENTS['payment around sign-in'] as Client, wallet);
    expect(paid).toMatchObject({ status: 200, text: expect.stringContaining('"tier":"member"') });

    expect(await paid.again()).toEqual({ status: 200, text: paid.text });
    expect(runs).toBe(1);
    expect(received() - before).toBe(MEMBERS_PRICE);
  });

  test.each(Object.entries(CLIENTS))('has it again for a request with a body, with %s', async (_what, client) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"letter":"one"}' };
    const paid = await payAt('/both', client, await holder(), init);

    expect(await paid.again()).toEqual({ status: 200, text: paid.text });
    expect(runs).toBe(1);
  });

  test.each(Object.entries(CLIENTS))(
    'has it from the other instance, which shares the database, with %s',
    async (_what, client) => {
      const paid = await payAt('/both', client, await holder());
      // Both stand behind one name.
      const headers = { host: new URL(urls[0] ?? '').host };

      expect(await paid.again({ to: `${urls[1]}/both`, headers })).toEqual({ status: 200, text: paid.text });
      expect(runs).toBe(1);
    },
  );

  test.each(Object.entries(CLIENTS))(
    'is served once the outcome is known that was not known in time, with %s',
    async (_what, client) => {
      const before = received();
      for (const path of ['/both', '/first']) {
        runs = 0;
        const wallet = await holder();
        const paid = await payAt(path, client, wallet, {}, () => fixture.sandbox.pauseSlots());
        expect([paid.status, (await paid.again()).status]).toEqual([503, 503]);
        fixture.sandbox.resumeSlots();
        let again = await paid.again();
        while (again.status === 503) again = await paid.again();

        expect(again).toMatchObject({ status: 200, text: expect.stringContaining(wallet.publicKey.toBase58()) });
        expect(await paid.again()).toEqual(again);
        expect(runs).toBe(1);
      }
      expect(received() - before).toBe(2n * PRICE);
    },
  );

  test.each(Object.entries(CLIENTS))(
    'is served by the same request after one that failed and cost nothing, with %s',
    async (_what, client) => {
      const before = received();
      failures = 1;
      const paid = await payAt('/both', client, await holder());
      expect([paid.status, received() - before]).toEqual([500, 0n]);

      const again = await paid.again();
      expect(again.status).toBe(200);
      expect(await paid.again()).toEqual(again);
      expect(runs).toBe(2);
      expect(received() - before).toBe(PRICE);
    },
  );

  test.each(Object.entries(CLIENTS))(
    'is served by the same request after a 503 of the chain, with %s',
    async (_what, client) => {
      const before = received();
      fixture.sandbox.faults.add({ kind: 'error', method: 'simulateTransaction' });
      const paid = await payAt('/both', client, await holder());
      fixture.sandbox.faults.clear();
      expect([paid.status, received() - before]).toEqual([503, 0n]);

      expect((await paid.again()).status).toBe(200);
      expect(runs).toBe(1);
      expect(received() - before).toBe(PRICE);
    },
  );

  describe.each(Object.entries(CLIENTS))('and nobody else comes in by that, with %s', (_what, client) => {
    const codeOf = ({ text: body }: { readonly text: string }): unknown => JSON.parse(body).code;

    test('for no other request', async () => {
      const paid = await payAt('/both', client, await holder());
      const [at = ''] = urls;
      for (const change of [
        { to: `${at}/other` },
        { to: `${at}/both?page=2` },
        { to: `${at}/club` },
        { method: 'POST' },
        { method: 'PUT' },
        { to: `${urls[1]}/both`, headers: { host: new URL(urls[1] ?? '').host } },
      ]) {
        expect((await paid.again(change)).status).toBeGreaterThan(400);
      }
      expect(runs).toBe(1);
      expect(await paid.again()).toEqual({ status: 200, text: paid.text });
    });

    test('without the secret that came with the payment, which the chain does not show', async () => {
      const paid = await payAt('/both', client, await holder());
      const name = 'payment-signature';
      const payment = JSON.parse(Buffer.from(paid.request.headers.get(name) ?? '', 'base64').toString());
      const { nonce: _nonce, ...extra } = payment.accepted.extra;
      for (const made of [
        { ...payment, accepted: { ...payment.accepted, extra } },
        { ...payment, accepted: { ...payment.accepted, extra: { ...extra, nonce: 'A'.repeat(32) } } },
      ]) {
        const headers = { [name]: Buffer.from(JSON.stringify(made)).toString('base64') };
        const refused = await paid.again({ headers });
        expect([401, 402, 403]).toContain(refused.status);
        expect(codeOf(refused)).not.toBe('payment_already_used');
      }
      expect(runs).toBe(1);
    });

    test('once a request has failed and cost nothing: that was as if it had never come, and is judged anew', async () => {
      const wallet = await holder();
      failures = 1;
      const paid = await payAt('/both', client, wallet);
      await payAt('/alone', client, wallet);
      const before = received();

      expect(await paid.again()).toMatchObject({ status: 403, text: expect.stringContaining('insufficient_balance') });
      expect(runs).toBe(2);
      expect(received()).toBe(before);
    });

    test('with a payment that was made where no wallet was asked for', async () => {
      const paid = await payAt('/alone', client, await fixture.sandbox.createWallet({ usdc: '1' }));
      const refused = await paid.again({ to: `${urls[0]}/both` });

      expect([401, 402, 403]).toContain(refused.status);
      expect(runs).toBe(1);
    });
  });

  test('a sign-in with a payment that nobody takes is good once, at a gate that sells nothing', async () => {
    const wallet = await holder();
    const paid = await payAt('/both', CLIENTS['payment around sign-in'] as Client, wallet);
    const to = `${urls[0]}/club`;
    const key = walletKeyOf(wallet.secretKey.subarray(0, 32));
    fixture.sandbox.fundToken(wallet.publicKey.toBase58(), USDC, 1_000_000n);
    const headers = await signIn(key, to);

    expect((await paid.again({ to, headers })).status).toBe(200);
    expect((await paid.again({ to, headers })).status).toBe(401);
    expect(runs).toBe(2);
  });
});
