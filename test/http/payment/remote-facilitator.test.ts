import type { RequestHandler } from 'express';
import { remoteFacilitator } from '../../../src/facilitator/remote/remote-facilitator.js';
import type { RemoteFacilitatorOptions } from '../../../src/facilitator/remote/remote-options.js';
import type { Facilitator } from '../../../src/facilitator/types.js';
import type { Payment, Terms } from '../../../src/protocol/types.js';
import { createMemoryLedger } from '../../../src/storage/ledger/memory-ledger.js';
import { type FacilitatorServer, serveFacilitator } from '../../helpers/fixtures/facilitator-server.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { ONE_CENT, offeredTerms, payTerms } from '../../helpers/transactions/core-payments.js';
import { until } from '../../helpers/until.js';

const USE = { resource: 'GET /report' };
const UNAVAILABLE = expect.objectContaining({ code: 'payment_backend_unavailable' });

describe('a facilitator that is asked over HTTP', () => {
  let fixture: TollFixture;
  let server: FacilitatorServer;
  let closers: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    fixture = await openTollFixture();
  });
  beforeEach(async () => {
    server = await serve();
  });
  afterEach(async () => {
    fixture.sandbox.resumeSlots();
    for (const close of closers.splice(0)) await close();
  });
  afterAll(() => fixture.close());

  /** A service of its own, with its own memory and the fixture's fee payer. */
  async function serve(): Promise<FacilitatorServer> {
    const served = await serveFacilitator(fixture.facilitatorWith({ ledger: createMemoryLedger() }));
    closers = [served.close, ...closers];
    return served;
  }

  function remote(options: Partial<RemoteFacilitatorOptions> = {}): Facilitator {
    const { network, tokens } = fixture.facilitator;
    const facilitator = remoteFacilitator({ url: server.url, network, tokens, ...options });
    closers = [() => facilitator.close(), ...closers];
    return facilitator;
  }

  async function aPayment(facilitator: Facilitator) {
    const terms = await offeredTerms(facilitator, fixture.payTo);
    return { terms, payment: await payTerms(fixture, terms) };
  }

  async function openClaim(facilitator: Facilitator, payment: Payment, terms: Terms) {
    const opened = await facilitator.openPayment(payment, terms, USE);
    if (opened.status !== 'open') throw new Error(`not opened: ${JSON.stringify(opened)}`);
    return opened.claim;
  }

  const balance = (terms: Terms) => fixture.sandbox.tokenBalance(fixture.payTo, terms.asset);

  /** Does `instead` for one path, and lets the rest through. */
  function at(path: string, instead: RequestHandler): RequestHandler {
    return (req, res, next) => (req.path === path ? instead(req, res, next) : next());
  }

  /** The service takes the payment and answers in full; what arrives is something else. */
  function passOnThen(instead: RequestHandler): RequestHandler {
    return async (req, res, next) => {
      const chunks: Buffer[] = [];
      for await (const chunk of req) chunks.push(chunk);
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: Buffer.concat(chunks) };
      server.before = (_req, _res, go) => go();
      await (await fetch(`${server.url}${req.path}`, init)).text();
      await instead(req, res, next);
    };
  }

  const loseResponse = passOnThen((_req, res) => void res.socket?.destroy());

  /** The service takes the payment; the connection breaks before it answers. */
  const breakBeforeResponse: RequestHandler = (_req, res, next) => {
    res.json = () => {
      res.socket?.destroy();
      return res;
    };
    next();
  };

  test('one call of /supported serves many 402s, also when they are asked for at once', async () => {
    const facilitator = remote();
    await Promise.all(Array.from({ length: 10 }, () => facilitator.supported()));
    await facilitator.supported();
    expect(server.count('/supported')).toBe(1);
  });

  test('what the pure rules refuse never leaves', async () => {
    const facilitator = remote();
    const { payment, terms } = await aPayment(facilitator);
    const garbage = { ...payment, transaction: new Uint8Array(200) };
    const forged = { ...payment, transaction: Uint8Array.from(payment.transaction).fill(7, 65, 129) };
    for (const bad of [garbage, forged]) {
      expect((await facilitator.openPayment(bad, terms, USE)).status).toBe('refused');
      expect((await facilitator.verify(bad, terms)).ok).toBe(false);
      expect((await facilitator.settle(bad, terms)).status).toBe('failed');
    }
    expect(new Set(server.asked)).toEqual(new Set(['/supported']));
  });

  test('a facilitator that was never reached is an outage, and is used once it is there', async () => {
    const { close, url } = server;
    await close();
    const facilitator = remote({ url });
    await expect(facilitator.supported()).rejects.toEqual(UNAVAILABLE);
    expect(await facilitator.health()).toMatchObject({
      status: 'down',
      wallet: '',
      faults: ['facilitator_unreachable'],
    });
    server = await serve();
    const later = remote();
    expect((await later.supported()).kinds).toHaveLength(1);
    expect((await later.health()).status).toBe('active');
  });

  test('a settlement that provably did not leave is an outage: nothing is remembered', async () => {
    const ledger = createMemoryLedger();
    const facilitator = remote({ ledger });
    const { payment, terms } = await aPayment(facilitator);
    const claim = await openClaim(facilitator, payment, terms);
    expect(await server.connections()).toBeGreaterThan(0);
    await server.close();
    await expect(claim.settle()).rejects.toEqual(UNAVAILABLE);
    expect(await ledger.find(claim.id)).toBeUndefined();
  });

  test.each([
    [503, 'payment_backend_unavailable'],
    [503, 'fee_limit_reached'],
    [429, 'rate_limited'],
  ])(
    'a settlement that it turns away itself, with %i %s, is an outage: nothing is remembered',
    async (status, code) => {
      const ledger = createMemoryLedger();
      const facilitator = remote({ ledger });
      const { payment, terms } = await aPayment(facilitator);
      const claim = await openClaim(facilitator, payment, terms);
      server.before = at('/settle', (_req, res) => void res.status(status).json({ code }));
      await expect(claim.settle()).rejects.toEqual(UNAVAILABLE);
      expect(await ledger.find(claim.id)).toBeUndefined();
    },
  );

  test.each([401, 403, 404, 408, 413, 429, 307])(
    'a gateway that answers a settlement %i, and has passed it on, leaves the outcome open: served once, paid once',
    async (status) => {
      const facilitator = remote();
      const { payment, terms } = await aPayment(facilitator);
      const before = balance(terms);
      const claim = await openClaim(facilitator, payment, terms);
      const refuse: RequestHandler = (_req, res) => void res.status(status).set('location', '/elsewhere').send('no');
      server.before = at('/settle', passOnThen(refuse));
      expect(await claim.settle()).toMatchObject({ status: 'pending' });
      expect((await openClaim(facilitator, payment, terms)).receipt).toMatchObject({ amount: ONE_CENT });
      expect(await facilitator.openPayment(payment, terms, { resource: 'GET /other' })).toMatchObject({
        status: 'used',
      });
      expect(balance(terms) - before).toBe(ONE_CENT);
      expect(server.count('/elsewhere')).toBe(0);
    },
  );

  test.each<[string, RequestHandler]>([
    ['a bad gateway', (_req, res) => void res.status(502).send('<html>')],
    ['an error of its own', (_req, res) => void res.status(500).json({ error: 'oops' })],
    ['a broken connection', (_req, res) => void res.socket?.destroy()],
    ['an answer that is no JSON', (_req, res) => void res.send('ok')],
    ['an answer of another shape', (_req, res) => void res.json({ success: 'yes' })],
    ['an answer without end', (_req, res) => void res.json({ success: true, padding: 'x'.repeat(2 ** 21) })],
    ['success without a transaction', (_req, res) => void res.json({ success: true, transaction: '', network: '' })],
  ])('%s leaves the outcome open: pending, kept, and resolved by the same payment', async (_, instead) => {
    const facilitator = remote();
    const { payment, terms } = await aPayment(facilitator);
    const before = balance(terms);
    const claim = await openClaim(facilitator, payment, terms);
    server.before = at('/settle', instead);
    expect(await claim.settle()).toEqual({ status: 'pending', payer: fixture.payer.publicKey.toBase58() });
    expect((await facilitator.openPayment(payment, terms, USE)).status).toBe('pending');
    expect(await facilitator.openPayment(payment, terms, { resource: 'GET /other' })).toEqual({ status: 'used' });
    server.before = (_req, _res, next) => next();
    const resolved = await openClaim(facilitator, payment, terms);
    expect(resolved.receipt).toMatchObject({ amount: ONE_CENT });
    expect(balance(terms) - before).toBe(ONE_CENT);
  });

  test('an answer that does not come in time leaves the outcome open', async () => {
    const facilitator = remote({ settleTimeoutMs: 50 });
    const { payment, terms } = await aPayment(facilitator);
    server.before = at('/settle', () => {});
    expect(await facilitator.settle(payment, terms)).toMatchObject({ status: 'pending' });
  });

  test('a settlement whose connection broke before the answer is paid once, and the same payment gets it', async () => {
    const facilitator = remote();
    const { payment, terms } = await aPayment(facilitator);
    const before = balance(terms);
    server.before = at('/settle', breakBeforeResponse);
    expect(await facilitator.settle(payment, terms)).toMatchObject({ status: 'pending' });
    server.before = (_req, _res, next) => next();
    expect(await facilitator.settle(payment, terms)).toMatchObject({ status: 'settled' });
    expect(balance(terms) - before).toBe(ONE_CENT);
  });

  test('"duplicate" about our own lost settlement is no failure: the payer has paid', async () => {
    const facilitator = remote();
    const { payment, terms } = await aPayment(facilitator);
    const before = balance(terms);
    const claim = await openClaim(facilitator, payment, terms);
    server.before = at('/settle', loseResponse);
    expect(await claim.settle()).toMatchObject({ status: 'pending' });
    expect(balance(terms) - before).toBe(ONE_CENT);
    expect((await facilitator.openPayment(payment, terms, USE)).status).toBe('open');
    expect(server.count('/settle')).toBe(3);
  });

  test('"duplicate" about a payment that was never sent from here is a refusal', async () => {
    const { payment, terms } = await aPayment(remote());
    await remote().settle(payment, terms);
    const other = remote({ ledger: createMemoryLedger() });
    const reason = 'duplicate_settlement';
    expect(await other.settle(payment, terms)).toMatchObject({ status: 'failed', reason });
    expect(await other.openPayment(payment, terms, USE)).toMatchObject({ status: 'refused', refusal: { reason } });
  });

  test('a payment that fails at the settlement is refused with its reason and can be sent again', async () => {
    const facilitator = remote();
    const terms = await offeredTerms(facilitator, fixture.payTo);
    const payer = await fixture.sandbox.createWallet({ usdc: '0' });
    const payment = await payTerms({ sandbox: fixture.sandbox, payer }, terms);
    const opened = await facilitator.openPayment(payment, terms, { ...USE, simulate: false });
    if (opened.status !== 'open') throw new Error('not opened');
    expect(await opened.claim.settle()).toMatchObject({ status: 'failed', reason: 'insufficient_funds' });
    fixture.sandbox.fundToken(payer.publicKey.toBase58(), terms.asset, ONE_CENT);
    expect((await facilitator.settle(payment, terms)).status).toBe('settled');
  });

  test('while it is away its last word keeps 402s going, health says so, and payments are an outage', async () => {
    const facilitator = remote();
    const { payment, terms } = await aPayment(facilitator);
    const known = await facilitator.supported();
    await server.close();
    await expect(facilitator.openPayment(payment, terms, USE)).rejects.toEqual(UNAVAILABLE);
    expect(await facilitator.supported()).toEqual(known);
    expect((await facilitator.health()).status).toBe('down');
  });

  test('headers go with every call, the same or made for each', async () => {
    const seen: (string | undefined)[] = [];
    server.before = (req, _res, next) => {
      seen.push(req.get('authorization'));
      next();
    };
    const { payment, terms } = await aPayment(remote({ headers: { Authorization: 'Bearer key' } }));
    expect(seen).toEqual(['Bearer key']);
    const headers = async ({ method, url }: { method: string; url: string }) => ({ authorization: `${method} ${url}` });
    await remote({ headers }).settle(payment, terms);
    expect(seen.slice(1)).toEqual([
      `GET ${server.url}/supported`,
      `POST ${server.url}/verify`,
      `POST ${server.url}/settle`,
    ]);
  });

  test('headers that cannot be made are an outage, not a payment that may have been sent', async () => {
    const ledger = createMemoryLedger();
    const facilitator = remote({
      ledger,
      timeoutMs: 2_000,
      settleTimeoutMs: 50,
      headers({ operation }) {
        if (operation === 'settle') return new Promise(() => {});
        return {};
      },
    });
    const { payment, terms } = await aPayment(facilitator);
    const claim = await openClaim(facilitator, payment, terms);
    await expect(claim.settle()).rejects.toEqual(UNAVAILABLE);
    expect(await ledger.find(claim.id)).toBeUndefined();
  });

  test('a commitment that cannot be asked of it is warned of, once', async () => {
    const told: unknown[] = [];
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation((...args) => void told.push(args[1]));
    const facilitator = remote();
    for (const resource of ['GET /a', 'GET /b']) {
      const { payment, terms } = await aPayment(facilitator);
      const opened = await facilitator.openPayment(payment, terms, { resource, commitment: 'finalized' });
      if (opened.status !== 'open') throw new Error('not opened');
      expect((await opened.claim.settle()).status).toBe('settled');
    }
    warn.mockRestore();
    expect(told).toEqual([{ code: 'TOLLHOUSE_REMOTE_COMMITMENT' }]);
  });

  test('a path in the address is kept', async () => {
    const url = await fixture.serve((app) => {
      app.get('/deep/x402/supported', (_req, res) => res.redirect('/supported'));
    });
    await expect(remote({ url: `${url}/deep/x402/` }).supported()).rejects.toEqual(UNAVAILABLE);
    server.before = (req, _res, next) => {
      req.url = req.url.replace('/deep/x402', '');
      next();
    };
    expect((await remote({ url: `${server.url}/deep/x402/` }).supported()).kinds).toHaveLength(1);
  });

  test('a service that settles nothing on our network is none', async () => {
    await expect(remote({ network: 'solana' }).supported()).rejects.toEqual(UNAVAILABLE);
  });

  describe('with several', () => {
    test('the first that answers is offered', async () => {
      const second = await serve();
      const { url } = server;
      await server.close();
      const facilitator = remote({ url: [url, second.url] });
      expect((await facilitator.supported()).kinds).toHaveLength(1);
      expect(await facilitator.health()).toMatchObject({ status: 'degraded' });
    });

    test('one fee payer, two services: verify and a settlement that provably was not begun go to the other', async () => {
      const second = await serve();
      const facilitator = remote({ url: [server.url, second.url] });
      const { payment, terms } = await aPayment(facilitator);
      await until(() => second.count('/supported') > 0);
      await until(async () => (await facilitator.health()).status === 'active');
      await server.close();
      expect((await facilitator.verify(payment, terms)).ok).toBe(true);
      expect((await facilitator.settle(payment, terms)).status).toBe('settled');
      expect(second.count('/settle')).toBe(1);
    });

    test('a settlement that may have been begun is asked for nowhere else', async () => {
      const second = await serve();
      const facilitator = remote({ url: [server.url, second.url] });
      const { payment, terms } = await aPayment(facilitator);
      await until(async () => (await facilitator.health()).status === 'active');
      server.before = at('/settle', (_req, res) => void res.socket?.destroy());
      expect((await facilitator.settle(payment, terms)).status).toBe('pending');
      expect(second.count('/settle')).toBe(0);
    });

    test('a payment for one fee payer is asked about where that one is at home', async () => {
      const keypair = await fixture.sandbox.createWallet({ sol: '1' });
      const other = await serveFacilitator(fixture.facilitatorWith({ keypair }));
      closers = [other.close, ...closers];
      const facilitator = remote({ url: [server.url, other.url] });
      await facilitator.health();
      const { signers, kinds } = await facilitator.supported();
      expect(signers).toEqual([fixture.feePayer.publicKey.toBase58(), keypair.publicKey.toBase58()]);
      expect(kinds.map(({ feePayer }) => feePayer)).toEqual([signers[0]]);
      const terms = { ...(await offeredTerms(facilitator, fixture.payTo)), feePayer: keypair.publicKey.toBase58() };
      expect((await facilitator.settle(await payTerms(fixture, terms), terms)).status).toBe('settled');
      expect([server.count('/settle'), other.count('/settle')]).toEqual([0, 1]);
    });
  });

  test.each<[string, object, string]>([
    ['no address', {}, 'option "url" is missing'],
    ['an address without a scheme', { url: 'facilitator.example.com' }, 'option "url" must be the http(s) address'],
    ['an address with a password', { url: 'https://a:b@example.com' }, 'without user'],
    ['an empty list', { url: [] }, 'option "url"'],
    ['a misspelt option', { url: 'https://x402.example.com', timeoutMS: 5 }, 'did you mean "timeoutMs"?'],
    ['a header that is no text', { url: 'https://x402.example.com', headers: { a: 1 } }, 'option "headers" must be'],
    ['a time-out of none', { url: 'https://x402.example.com', timeoutMs: Number.NaN }, 'option "timeoutMs"'],
  ])('%s throws at start and says what is meant', (_, options, message) => {
    const make = () => remoteFacilitator({ network: 'solana-devnet', ...options } as RemoteFacilitatorOptions);
    expect(make).toThrow(expect.objectContaining({ code: 'bad_option', message: expect.stringContaining(message) }));
  });
});
