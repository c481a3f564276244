import { request as httpRequest, type IncomingMessage } from 'node:http';
import { createFacilitator, type EmbeddedFacilitator } from '../../../src/facilitator/create-facilitator.js';
import { createRouter } from '../../../src/http/create-router.js';
import type { Terms } from '../../../src/protocol/types.js';
import { encodeFacilitatorRequest } from '../../../src/protocol/wire/remote.js';
import { type FacilitatorServer, serveFacilitator } from '../../helpers/fixtures/facilitator-server.js';
import { EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { ONE_CENT, offeredTerms, payTerms } from '../../helpers/transactions/core-payments.js';
import { until } from '../../helpers/until.js';

const DEVNET = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
const PROBLEM = /^application\/problem\+json/;

describe('the facilitator over HTTP', () => {
  let fixture: TollFixture;
  let server: FacilitatorServer;

  beforeAll(async () => {
    fixture = await openTollFixture();
    server = await serveFacilitator(fixture.facilitator);
  });
  afterEach(() => {
    fixture.sandbox.faults.clear();
    fixture.sandbox.resumeSlots();
    server.before = (_req, _res, next) => next();
  });
  afterAll(async () => {
    await server.close();
    await fixture.close();
  });

  async function aRequest(change: Partial<Terms> = {}) {
    const terms = await offeredTerms(fixture.facilitator, fixture.payTo);
    return encodeFacilitatorRequest(await payTerms(fixture, terms), { ...terms, ...change });
  }

  async function post(path: string, body: unknown, headers: Record<string, string> = {}) {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: text };
    const answer = await fetch(`${server.url}${path}`, init);
    const type = answer.headers.get('content-type');
    return { status: answer.status, type, answer, body: (await answer.json()) as Record<string, unknown> };
  }

  test('GET /supported names every kind in both versions, the fee payer and the signers', async () => {
    const feePayer = fixture.feePayer.publicKey.toBase58();
    const answer = await fetch(`${server.url}/supported`);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      kinds: [
        { x402Version: 2, scheme: 'exact', network: DEVNET, extra: expect.objectContaining({ feePayer }) },
        { x402Version: 1, scheme: 'exact', network: 'solana-devnet', extra: expect.objectContaining({ feePayer }) },
      ],
      extensions: [],
      signers: { 'solana:*': [feePayer] },
    });
  });

  test('POST /verify answers 200 to a good payment', async () => {
    const { status, body } = await post('/verify', await aRequest());
    expect({ status, body }).toEqual({
      status: 200,
      body: { isValid: true, payer: fixture.payer.publicKey.toBase58() },
    });
  });

  test('POST /verify answers 200 to a bad payment, with its reason and a sentence', async () => {
    const { status, body } = await post('/verify', await aRequest({ amount: 1n }));
    expect(status).toBe(200);
    const invalidReason = 'invalid_exact_svm_payload_amount_mismatch';
    expect(body).toMatchObject({ isValid: false, invalidReason, invalidMessage: expect.stringMatching(/\.$/) });
  });

  test('POST /settle answers 200 with the receipt, moves the money, and answers success once', async () => {
    const request = await aRequest();
    const { asset } = request.paymentRequirements;
    const before = fixture.sandbox.tokenBalance(fixture.payTo, asset);
    const first = await post('/settle', request);
    expect(first.status).toBe(200);
    expect(first.body).toEqual({
      success: true,
      transaction: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/),
      network: DEVNET,
      payer: fixture.payer.publicKey.toBase58(),
      amount: String(ONE_CENT),
    });
    const second = await post('/settle', request);
    expect(second.status).toBe(200);
    expect(second.body).toMatchObject({ success: false, errorReason: 'duplicate_settlement' });
    expect(fixture.sandbox.tokenBalance(fixture.payTo, asset) - before).toBe(ONE_CENT);
  });

  test('POST /settle answers 200 to a bad payment and sends nothing', async () => {
    const { sendTransaction } = fixture.sandbox.calls;
    const { status, body } = await post('/settle', await aRequest({ amount: 1n }));
    expect(status).toBe(200);
    const errorReason = 'invalid_exact_svm_payload_amount_mismatch';
    expect(body).toMatchObject({ success: false, errorReason, transaction: '', network: DEVNET });
    expect(fixture.sandbox.calls.sendTransaction).toBe(sendTransaction);
  });

  test.each(['/verify', '/settle'])('%s answers 200 to a payment of a version that is not spoken', async (path) => {
    const { paymentPayload, paymentRequirements } = await aRequest();
    const { status, body } = await post(path, {
      x402Version: 3,
      paymentPayload: { ...paymentPayload, x402Version: 3 },
      paymentRequirements,
    });
    expect(status).toBe(200);
    expect(Object.values(body)).toContain('invalid_x402_version');
  });

  test.each([
    ['null', 'null'],
    ['an array', '[]'],
    ['an empty object', '{}'],
    ['no requirements', '{"x402Version":2,"paymentPayload":{"x402Version":2}}'],
    ['a payload that is a text', '{"x402Version":2,"paymentPayload":"x","paymentRequirements":{}}'],
    ['a __proto__ key', '{"x402Version":2,"paymentPayload":{"x402Version":2,"__proto__":{}},"paymentRequirements":{}}'],
    ['JSON nested too deeply', `{"paymentPayload":{"x402Version":2,"a":${'['.repeat(99)}${']'.repeat(99)}}}`],
  ])('a malformed body is 400 with a problem: %s', async (_, text) => {
    for (const path of ['/verify', '/settle']) {
      const { status, type, body } = await post(path, text);
      expect(status).toBe(400);
      expect(type).toMatch(PROBLEM);
      expect(body).toMatchObject({ status: 400, retryable: false, detail: expect.stringMatching(/./) });
      expect(['invalid_request', 'invalid_json']).toContain(body['code']);
    }
  });

  test('a body that is not JSON is 400 invalid_json', async () => {
    const { status, type, body } = await post('/verify', '{"x402Version":2,');
    expect(status).toBe(400);
    expect(type).toMatch(PROBLEM);
    expect(body).toMatchObject({ code: 'invalid_json' });
  });

  test('a body over 100 KiB is 413', async () => {
    const { status, type, body } = await post('/settle', JSON.stringify({ padding: 'x'.repeat(101 * 1024) }));
    expect(status).toBe(413);
    expect(type).toMatch(PROBLEM);
    expect(body).toMatchObject({ code: 'body_too_large' });
  });

  test.each([
    ['text/plain', {}],
    ['application/x-www-form-urlencoded', {}],
    ['application/json', { 'content-encoding': 'x-zip' }],
    ['application/json; charset=klingon', {}],
  ])('a body of the type %s %j is 415', async (type, headers) => {
    const answer = await post('/verify', '{}', { 'content-type': type, ...headers });
    expect(answer.status).toBe(415);
    expect(answer.type).toMatch(PROBLEM);
    expect(answer.body).toMatchObject({ code: 'unsupported_media_type' });
  });

  test('while the RPC is down /verify and /settle are 503 to retry, and nothing is used up', async () => {
    const request = await aRequest();
    fixture.sandbox.faults.add({ kind: 'disconnect' });
    for (const path of ['/verify', '/settle']) {
      const { status, type, answer, body } = await post(path, request);
      expect(status).toBe(503);
      expect(type).toMatch(PROBLEM);
      expect(body).toMatchObject({ code: 'payment_backend_unavailable', retryable: true });
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    fixture.sandbox.faults.clear();
    for (;;) {
      const { status, body } = await post('/settle', request);
      if (status === 503) continue;
      expect(body).toMatchObject({ success: true });
      break;
    }
    await until(async () => (await fixture.facilitator.supported()).kinds.length > 0);
  });

  test('an answer that was not received can be asked for again', async () => {
    const request = await aRequest();
    fixture.sandbox.pauseSlots();
    const { sendTransaction } = fixture.sandbox.calls;
    let gone = false;
    server.before = (_req, res, next) => {
      res.once('close', () => {
        gone = true;
      });
      next();
    };
    const lost = sendAndHold(`${server.url}/settle`, request);
    await until(() => fixture.sandbox.calls.sendTransaction > sendTransaction);
    lost.destroy();
    await until(() => gone);
    fixture.sandbox.resumeSlots();
    for (;;) {
      const { body } = await post('/settle', request);
      if (body['errorReason'] === 'settlement_in_progress') continue;
      expect(body).toMatchObject({ success: true });
      break;
    }
    expect((await post('/settle', request)).body).toMatchObject({ errorReason: 'duplicate_settlement' });
    expect(fixture.sandbox.calls.sendTransaction).toBe(sendTransaction + 1);
  });

  test('an outcome that is not known is told with its transaction, and the same payload learns it', async () => {
    const hasty = await serveFacilitator(fixture.facilitatorWith({ settleTimeoutMs: 50 }));
    const request = await aRequest();
    const ask = async () => {
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(request) };
      return (await (await fetch(`${hasty.url}/settle`, init)).json()) as Record<string, unknown>;
    };
    fixture.sandbox.pauseSlots();
    const pending = await ask();
    expect(pending).toMatchObject({ success: false, errorReason: 'settlement_pending' });
    fixture.sandbox.resumeSlots();
    let last = await ask();
    while (last['errorReason'] === 'settlement_pending') last = await ask();
    expect(last).toMatchObject({ success: true, transaction: pending['transaction'] });
    await hasty.close();
  });

  test.each(EXPRESSES)('on %s the router works under a prefix, before and after express.json()', async (_, express) => {
    const { facilitator } = fixture;
    const url = await fixture.serve((app) => {
      app.use('/x402', createRouter({ facilitator, limits: false }));
      app.use('/parsed', express.json(), createRouter({ facilitator, limits: false }));
    }, express);
    for (const prefix of ['/x402', '/parsed']) {
      const body = JSON.stringify(await aRequest());
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
      expect(await (await fetch(`${url}${prefix}/settle`, init)).json()).toMatchObject({ success: true });
    }
  });

  describe('GET /health', () => {
    async function healthOf(facilitator: EmbeddedFacilitator) {
      const own = await serveFacilitator(facilitator);
      const answer = await fetch(`${own.url}/health`);
      const body = await answer.json();
      await own.close();
      return { status: answer.status, body };
    }

    test('tells that it is well, and with which wallet', async () => {
      expect(await healthOf(fixture.facilitatorWith({}))).toEqual({
        status: 200,
        body: {
          status: 'healthy',
          version: expect.stringMatching(/^\d+\.\d+\.\d+/),
          networks: { 'solana-devnet': 'active' },
          facilitation: { status: 'enabled', wallet: fixture.feePayer.publicKey.toBase58() },
        },
      });
    });

    test('tells when the RPC is down: still 200, no longer active, nothing facilitated', async () => {
      fixture.sandbox.faults.add({ kind: 'disconnect' });
      expect(await healthOf(fixture.facilitatorWith({}))).toMatchObject({
        status: 200,
        body: { status: 'degraded', networks: { 'solana-devnet': 'down' }, facilitation: { status: 'disabled' } },
      });
    });

    test.each([
      ['nearly empty', '0.001', 'degraded', 'enabled'],
      ['empty', '0', 'down', 'disabled'],
    ])('tells when the fee payer is %s', async (_, sol, network, facilitation) => {
      const { rpcUrl } = fixture.sandbox;
      const keypair = await fixture.sandbox.createWallet({ sol });
      const facilitator = createFacilitator({ network: 'solana-devnet', rpcUrl, keypair });
      expect((await healthOf(facilitator)).body).toMatchObject({
        status: 'degraded',
        networks: { 'solana-devnet': network },
        facilitation: { status: facilitation, wallet: keypair.publicKey.toBase58() },
      });
      await facilitator.close();
    });
  });
});

/** A request whose connection can be cut. */
function sendAndHold(url: string, body: unknown) {
  const headers = { 'content-type': 'application/json', connection: 'close' };
  const request = httpRequest(url, { method: 'POST', headers, agent: false });
  request.on('error', () => {});
  request.on('response', (answer: IncomingMessage) => answer.resume());
  request.end(JSON.stringify(body));
  return request;
}
