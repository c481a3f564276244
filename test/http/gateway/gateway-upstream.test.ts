import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifyGateway } from '../../../src/gateway/proxy/verify-gateway.js';
import { CALL_PRICE, type ClientResponse, type MadeProject } from '../../helpers/fixtures/gateway-client.js';
import { useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import { type Respond, startReceiver } from '../../helpers/http/webhook-receiver.js';
import { createGate, signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const fixture = useGatewayFixture();

const answers: Respond = (res) => void res.end('paid for');
const fails: Respond = (res) => void res.writeHead(500).end('secret trouble');
const USED = [402, 'payment_already_used'];

beforeEach(() => fixture().upstream.respond(answers));

const outcome = ({ status, body }: ClientResponse) => [status, body['code']];

/** Calls a project with the fixture's key, unless other headers are given, until no earlier call holds the payment. */
async function call({ slug }: MadeProject, headers: ProofHeaders, init: RequestInit = {}): Promise<ClientResponse> {
  const sent = { ...init, headers: { ...fixture().key.headers, ...headers } };
  let answer = await fixture().client.call(slug, sent);
  while (answer.status === 409) answer = await fixture().client.call(slug, sent);
  return answer;
}

/** What the key has as credit at a project, in atomic units. */
async function creditOf({ id }: MadeProject): Promise<unknown> {
  const { body } = await fixture().client.ask(
    'GET',
    `/api/v1/spending?project=${id}`,
    undefined,
    fixture().key.headers,
  );
  const credit = body['credit'] as readonly { readonly amount_atomic: string }[];
  return credit[0]?.amount_atomic;
}

const change = ({ id }: MadeProject, patch: object) =>
  fixture().client.ask('PATCH', `/api/v1/projects/${id}`, patch, fixture().asOwner);

/** The payment is delivered, once: the same call gets the same response again, any other nothing. */
async function expectGoodOnce(project: MadeProject, payment: ProofHeaders): Promise<void> {
  const before = fixture().hits();
  const delivered = await call(project, payment);
  expect([delivered.status, delivered.text, delivered.headers.get('x-service-error')]).toEqual([200, 'paid for', null]);
  expect(delivered.headers.get('idempotency-replayed')).toBeNull();
  const again = await call(project, payment);
  expect([again.status, again.text, again.headers.get('x-service-error')]).toEqual([200, 'paid for', null]);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect(outcome(await call({ ...project, slug: `${project.slug}?more` }, payment))).toEqual(USED);
  expect(fixture().hits()).toBe(before + 1);
}

/** What was paid for nothing pays one call, and no other. */
async function expectCreditOnce(project: MadeProject, payment: ProofHeaders): Promise<void> {
  const before = fixture().hits();
  const delivered = await call(project, {});
  expect([delivered.status, delivered.text, delivered.headers.get('x-service-error')]).toEqual([200, 'paid for', null]);
  expect(delivered.headers.get('access-credit')).toBe('0 USDC is left; credit has paid this call');
  expect(outcome(await call(project, {}))).toEqual([402, 'payment_required']);
  const used = await call(project, payment);
  expect(outcome(used)).toEqual(USED);
  expect(used.body['detail']).toMatch(/was not charged, and what was paid became credit of its key/);
  expect(fixture().hits()).toBe(before + 1);
}

const CREDIT = /^0\.012347 USDC was not charged for this call, and pays the next one of this key at this project$/;

describe('while the upstream fails the caller is told, and what was paid is credit', () => {
  const huge: Respond = (res) => void res.writeHead(200, { 'content-length': 200 * 1024 * 1024 }).write('x');

  test.each<[string, Respond, number, string]>([
    ['is slow', () => {}, 504, 'upstream_timeout'],
    ['hangs up', (res) => void res.destroy(), 502, 'upstream_reset'],
    ['is not HTTP', (res) => void res.socket?.end('hello\r\n\r\n'), 502, 'upstream_reset'],
    ['announces too much', huge, 502, 'upstream_answer_too_large'],
  ])('%s', async (_what, respond, status, code) => {
    const project = await fixture().newProject({ upstream: { url: fixture().upstream.origin, timeout_ms: 300 } });
    const { header } = await fixture().pay({ project });
    fixture().upstream.respond(respond);
    const failed = await call(project, header);
    expect([...outcome(failed), failed.headers.get('x-service-error')]).toEqual([status, code, 'gateway']);
    expect(failed.body).toMatchObject({ retryable: true, detail: expect.stringContaining('Nothing was charged') });
    expect(failed.headers.get('access-credit')).toMatch(CREDIT);
    expect(failed.text).not.toMatch(/secret trouble|127\.0\.0\.1/);
    fixture().upstream.respond(answers);
    await expectCreditOnce(project, header);
  });

  test('is down', async () => {
    const closed = await startReceiver();
    await closed.close();
    const project = await fixture().newProject({ upstream: { url: closed.origin } });
    const { header } = await fixture().pay({ project });
    const failed = await call(project, header);
    expect([...outcome(failed), failed.headers.get('x-service-error')]).toEqual([
      502,
      'upstream_unreachable',
      'gateway',
    ]);
    expect((await change(project, { upstream: { url: fixture().upstream.origin } })).status).toBe(200);
    await expectCreditOnce(project, header);
  });

  test.each<[string, Respond]>([
    [
      'resets in mid-body',
      (res) => {
        res.writeHead(200, { 'content-length': 100 });
        res.write('half', () => res.socket?.resetAndDestroy());
      },
    ],
    ['lies about its length', (res) => void res.socket?.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf')],
  ])('%s: the connection is cut, so that half an answer looks like none', async (_what, respond) => {
    const project = await fixture().newProject();
    const { header } = await fixture().pay({ project });
    fixture().upstream.respond(respond);
    await expect(call(project, header)).rejects.toThrow();
    fixture().upstream.respond(answers);
    await until(async () => (await creditOf(project)) === String(CALL_PRICE));
    await expectCreditOnce(project, header);
  });

  test('and one through x402 as well: the money moves once, and the same payment finds the credit too', async () => {
    const { client, key, newProject, owner, payer, sandbox } = fixture();
    const project = await newProject();
    const url = `${client.url}/v1/${project.slug}`;
    const { v2 } = await signPayment({ sandbox, payer }, url, { init: { headers: key.headers } });
    const earned = () => sandbox.tokenBalance(owner.publicKey.toBase58(), sandbox.tokens[0]!.mint);
    const before = earned();
    fixture().upstream.respond(fails);
    const failed = await call(project, v2);
    expect([failed.status, failed.text, failed.headers.get('x-service-error')]).toEqual([500, 'secret trouble', null]);
    expect(failed.headers.get('payment-response')).not.toBeNull();
    expect(failed.headers.get('access-credit')).toMatch(CREDIT);
    const { body } = await client.ask('GET', `/api/v1/calls?project=${project.id}`, undefined, key.headers);
    const [paid] = body['data'] as readonly { readonly payment_id: string }[];
    const path = `/api/v1/payments/${paid?.payment_id}/receipt`;
    const ofPayment = await client.ask('GET', path, undefined, key.headers);
    expect(ofPayment.body['calls']).toMatchObject([{ status: 500, credit: 'given' }]);
    for (const [respond, status] of [
      [fails, 500],
      [(res) => void res.destroy(), 502],
    ] as readonly [Respond, number][]) {
      fixture().upstream.respond(respond);
      const failedAgain = await call(project, v2);
      // No receipt: another payment may have paid it, and who has brought this one need not have made it.
      expect([failedAgain.status, failedAgain.headers.get('payment-response')]).toEqual([status, null]);
      expect(failedAgain.headers.get('access-credit')).toMatch(CREDIT);
    }
    fixture().upstream.respond(answers);
    const served = await call(project, v2);
    expect(served.headers.get('payment-response')).toBeNull();
    const hits = fixture().hits();
    const again = await call(project, v2);
    expect([served.status, again.text, again.headers.get('idempotency-replayed')]).toEqual([200, served.text, 'true']);
    expect([fixture().hits(), (await call(project, {})).status]).toEqual([hits, 402]);
    expect(earned() - before).toBe(CALL_PRICE);
  });

  test('again and again: the credit comes back each time, and nobody pays twice', async () => {
    const project = await fixture().newProject();
    const { header } = await fixture().pay({ project });
    fixture().upstream.respond(fails);
    const before = fixture().hits();
    expect((await call(project, header)).status).toBe(500);
    for (const _ of '1234') expect((await call(project, {})).status).toBe(500);
    expect([fixture().hits() - before, await creditOf(project)]).toEqual([5, String(CALL_PRICE)]);
    fixture().upstream.respond(answers);
    await expectCreditOnce(project, header);
  });

  test('which is of its key only, and of its project', async () => {
    const project = await fixture().newProject();
    const { header } = await fixture().pay({ project });
    fixture().upstream.respond(fails);
    expect((await call(project, header)).status).toBe(500);
    fixture().upstream.respond(answers);
    const stranger = await fixture().newCaller();
    const before = fixture().hits();
    expect(outcome(await call(project, { ...header, ...stranger.key.headers }))).toEqual([402, 'payment_invalid']);
    expect(outcome(await call(project, stranger.key.headers))).toEqual([402, 'payment_required']);
    expect(outcome(await call(await fixture().newProject(), {}))).toEqual([402, 'payment_required']);
    expect(fixture().hits()).toBe(before);
    await expectCreditOnce(project, header);
  });

  test('and pays one call of those that come at once', async () => {
    const project = await fixture().newProject();
    const { header } = await fixture().pay({ project });
    fixture().upstream.respond(fails);
    await call(project, header);
    fixture().upstream.respond(answers);
    const before = fixture().hits();
    const all = await Promise.all(Array.from({ length: 10 }, () => call(project, {})));
    expect(all.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(fixture().hits()).toBe(before + 1);
  });

  test('and is not touched by a call that cannot be passed on', async () => {
    const project = await fixture().newProject({ limits: { max_body_bytes: 1_000 } });
    const { header } = await fixture().pay({ project });
    fixture().upstream.respond(fails);
    await call(project, header);
    fixture().upstream.respond(answers);
    expect(outcome(await call(project, {}, { method: 'POST', body: 'x'.repeat(1_001) }))).toEqual([
      413,
      'body_too_large',
    ]);
    await expectCreditOnce(project, header);
  });
});

test('a redirect is a delivery, and is not followed', async () => {
  const { header } = await fixture().pay();
  const elsewhere = `${fixture().upstream.origin}/elsewhere`;
  fixture().upstream.respond((res) => void res.writeHead(301, { location: elsewhere }).end('theirs'));
  const before = fixture().hits();
  const answer = await call(fixture().project, header);
  expect([answer.status, answer.text, answer.headers.get('x-service-error')]).toEqual([301, 'theirs', null]);
  expect(answer.headers.get('location')).toBe(`/v1/${fixture().project.slug}/elsewhere`);
  const again = await call(fixture().project, header);
  expect([again.status, again.text, again.headers.get('x-service-error')]).toEqual([301, 'theirs', null]);
  expect(again.headers.get('location')).toBe(answer.headers.get('location'));
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect(fixture().hits()).toBe(before + 1);
});

test.each([400, 404, 429])(
  'an answer of %d is passed on and not charged, unless the project charges it',
  async (status) => {
    const theirs: Respond = (res) => void res.writeHead(status, { 'retry-after': '7' }).end('theirs');
    const [usual, charging] = [await fixture().newProject(), await fixture().newProject()];
    expect((await change(charging, { pricing: { charge_on: [status] } })).status).toBe(200);
    for (const project of [usual, charging]) {
      const { header } = await fixture().pay({ project });
      fixture().upstream.respond(theirs);
      const answer = await call(project, header);
      expect([answer.status, answer.text, answer.headers.get('x-service-error')]).toEqual([status, 'theirs', null]);
      expect(answer.headers.get('retry-after')).toBe('7');
      fixture().upstream.respond(answers);
      if (project === usual) await expectCreditOnce(project, header);
      else
        expect([await creditOf(project), outcome(await call(project, {}))]).toEqual([
          undefined,
          [402, 'payment_required'],
        ]);
    }
  },
);

test('the owner sees what is owed as credit, and no upstream error where it was the caller who left', async () => {
  const project = await fixture().newProject();
  const { header } = await fixture().pay({ project });
  fixture().upstream.respond(fails);
  await call(project, header);
  const { client, asOwner } = fixture();
  const figures = async () =>
    (await client.ask('GET', `/api/v1/projects/${project.id}/analytics`, undefined, asOwner)).body;
  expect(await figures()).toMatchObject({
    totals: { calls: 1, paid: 0, upstream_errors: 1, credit_given_atomic: { USDC: String(CALL_PRICE) } },
    credit_owed_atomic: { USDC: String(CALL_PRICE) },
  });
  const listed = await client.ask('GET', `/api/v1/projects/${project.id}/calls`, undefined, asOwner);
  const credit = { kind: 'given', amount: '0.012347', amount_atomic: String(CALL_PRICE), token: 'USDC' };
  const failed = { status: 500, outcome: 'failed', reason: 'upstream_error', amount: null, credit };
  expect(listed.body['data']).toMatchObject([failed]);
  fixture().upstream.respond(answers);
  await call(project, {});
  const paid = String(CALL_PRICE);
  await until(async () => JSON.stringify((await figures())['credit_owed_atomic']) === '{"USDC":"0"}');
  expect(await figures()).toMatchObject({
    totals: { calls: 2, paid: 1, revenue_atomic: { USDC: paid }, credit_used_atomic: { USDC: paid } },
    credit_owed_atomic: { USDC: '0' },
  });
});

test('when the caller goes away before the answer the upstream is told, and what was paid is credit', async () => {
  const project = await fixture().newProject();
  const { header } = await fixture().pay({ project });
  const arrived = createGate();
  let isGone = false;
  fixture().upstream.respond((res) => {
    res.once('close', () => {
      isGone = true;
    });
    arrived.open();
  });
  const controller = new AbortController();
  const left = call(project, header, { signal: controller.signal });
  await arrived.opened;
  controller.abort();
  await expect(left).rejects.toThrow();
  await until(() => isGone);
  fixture().upstream.respond(answers);
  await until(async () => (await creditOf(project)) === String(CALL_PRICE));
  const { client, asOwner } = fixture();
  const { body } = await client.ask('GET', `/api/v1/projects/${project.id}/analytics`, undefined, asOwner);
  expect(body['totals']).toMatchObject({ calls: 1, upstream_errors: 0 });
  await expectCreditOnce(project, header);
});

test('when the line of a caller breaks within a response that is kept, it comes to its end, and the same payment brings all of it', async () => {
  const project = await fixture().newProject();
  const { header } = await fixture().pay({ project });
  const isBroken = createGate();
  const before = fixture().hits();
  fixture().upstream.respond(async (res) => {
    res.write('the first half, ');
    await isBroken.opened;
    res.end('and the second');
  });
  const controller = new AbortController();
  const headers = { ...fixture().key.headers, ...header };
  const begun = await fetch(`${fixture().client.url}/v1/${project.slug}`, { headers, signal: controller.signal });
  controller.abort();
  await expect(begun.text()).rejects.toThrow();
  // What has come before these has been seen by then.
  for (let turn = 0; turn < 3; turn += 1) await creditOf(project);
  isBroken.open();
  const again = await call(project, header);
  expect([again.status, again.text]).toEqual([200, 'the first half, and the second']);
  expect([fixture().hits(), await creditOf(project)]).toEqual([before + 1, undefined]);
});

test('a caller who goes away while it sends its body is no failure of the upstream', async () => {
  const { asOwner, client, key, newProject, pay } = fixture();
  const arrived = createGate();
  const reader = createServer((req) => void req.once('data', () => arrived.open()));
  await once(reader.listen(0, '127.0.0.1'), 'listening');
  try {
    const { port } = reader.address() as AddressInfo;
    const project = await newProject({ upstream: { url: `http://127.0.0.1:${port}` } });
    const { header } = await pay({ project });
    const headers = {
      ...key.headers,
      ...header,
      'content-type': 'application/octet-stream',
      'content-length': '4000000',
    };
    const left = request(`${client.url}/v1/${project.slug}`, { method: 'POST', headers });
    left.on('error', () => undefined).write(Buffer.alloc(2_000_000));
    await arrived.opened;
    left.destroy();
    const totals = async () => {
      const { body } = await client.ask('GET', `/api/v1/projects/${project.id}/analytics`, undefined, asOwner);
      return body['totals'] as { readonly calls: number };
    };
    await until(async () => (await totals()).calls === 1);
    expect(await totals()).toMatchObject({ calls: 1, upstream_errors: 0 });
  } finally {
    reader.closeAllConnections();
    reader.close();
  }
});

describe('who does not get to pay', () => {
  afterEach(() => fixture().upstream.respond(answers));

  async function expectTurnedAway(
    asked: Promise<ClientResponse>,
    status: number,
    code: string,
  ): Promise<ClientResponse> {
    const before = fixture().hits();
    const answer = await asked;
    expect([...outcome(answer), answer.headers.get('x-service-error')]).toEqual([status, code, 'gateway']);
    expect(fixture().hits()).toBe(before);
    return answer;
  }

  test('a caller of no project is 404, of a paused one 503, and its payment is good when it goes on', async () => {
    const { asOwner, client, newProject, pay } = fixture();
    const project = await newProject();
    const { header } = await pay({ project });
    await expectTurnedAway(call({ ...project, slug: 'nobody-has-this' }, header), 404, 'project_not_found');
    await client.ask('POST', `/api/v1/projects/${project.id}/pause`, undefined, asOwner);
    const paused = await expectTurnedAway(call(project, header), 503, 'project_paused');
    expect(Number(paused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(paused.body['detail']).toContain('stays good for 10 minutes');
    expect(paused.body['detail']).not.toContain('nothing was charged');
    const unpaid = await expectTurnedAway(call(project, {}), 503, 'project_paused');
    expect(unpaid.body['detail']).toBe('Its owner has paused this project; this request charged nothing.');
    await client.ask('POST', `/api/v1/projects/${project.id}/resume`, undefined, asOwner);
    await expectGoodOnce(project, header);
  });

  test('a caller without a key is 401; a wrong secret and an unknown key are told the same', async () => {
    const { client, key, project } = fixture();
    const keyless = await expectTurnedAway(client.call(project.slug), 401, 'unauthenticated');
    expect(keyless.body['detail']).toContain(
      'Whoever signs in with a wallet makes one, without charge: POST /api/v1/keys/generate',
    );
    const other = await client.key(await client.signIn(fixture().owner));
    const withSecretOf = (secret: string, name: string) =>
      call(project, { 'x-service-key': name, 'x-service-secret': secret });
    const wrong = await expectTurnedAway(
      withSecretOf(other.secret, key.headers['x-service-key']!),
      401,
      'invalid_service_key',
    );
    const unknown = await expectTurnedAway(
      withSecretOf(key.secret, `toll_pk_test_${'1'.repeat(22)}`),
      401,
      'invalid_service_key',
    );
    expect({ ...wrong.body, request_id: '' }).toEqual({ ...unknown.body, request_id: '' });
  });

  test('a key for another project, or without the scope, is 403', async () => {
    const { asOwner, client, newProject, project } = fixture();
    const other = await newProject();
    for (const [wanted, code] of [
      [{ project_id: other.id }, 'key_project_not_allowed'],
      [{ scopes: ['spending:read'] }, 'insufficient_scope'],
    ] as const) {
      const { headers } = await client.key(asOwner, wanted);
      await expectTurnedAway(call(project, headers), 403, code);
    }
  });

  test('a call that cannot be passed on is refused before it costs anything', async () => {
    const project = await fixture().newProject({ limits: { max_body_bytes: 1_000 } });
    const { header } = await fixture().pay({ project });
    const big = { method: 'POST', body: 'x'.repeat(1_001) };
    await expectTurnedAway(call(project, header, big), 413, 'body_too_large');
    await expectTurnedAway(call({ ...project, slug: `${project.slug}/..%2fsecret` }, header), 400, 'invalid_request');
    const url = `${fixture().client.url}/v1/${project.slug}`;
    const traced = await new Promise((resolve) => {
      const headers = { ...fixture().key.headers, ...header };
      request(url, { method: 'TRACE', headers }, (res) => resolve([res.resume().statusCode])).end();
    });
    expect(traced).toEqual([405]);
    await expectGoodOnce(project, header);
  });

  test('more calls at once than a project takes are 429, and their payments stay good', async () => {
    const project = await fixture().newProject({ limits: { concurrent: 1 } });
    const [first, second] = [await fixture().pay({ project }), await fixture().pay({ project })];
    const [arrived, leave] = [createGate(), createGate()];
    fixture().upstream.respond((res) => {
      arrived.open();
      void leave.opened.then(() => res.end('paid for'));
    });
    const underWay = call(project, first.header);
    await arrived.opened;
    const busy = await expectTurnedAway(call(project, second.header), 429, 'rate_limited');
    expect(busy.headers.get('retry-after')).toBe('1');
    leave.open();
    expect((await underWay).status).toBe(200);
    fixture().upstream.respond(answers);
    await expectGoodOnce(project, second.header);
  });

  test('more calls a second than a key may ask for are 429', async () => {
    const { asOwner, client, project } = fixture();
    const { headers } = await client.key(asOwner, { limits: { per_second: 1 } });
    const all = await Promise.all(Array.from({ length: 8 }, () => call(project, headers)));
    const codes = all.map(outcome);
    expect(codes).toContainEqual([402, 'payment_required']);
    expect(codes).toContainEqual([429, 'rate_limited']);
  });

  test('more paid calls a second than a project takes are 429, whoever asks for the price, and their payments stay good', async () => {
    const project = await fixture().newProject({ limits: { per_second: 1 } });
    const payments: ProofHeaders[] = [];
    for (const _ of '1234') payments.push((await fixture().pay({ project })).header);
    const unpaid = await Promise.all(Array.from({ length: 8 }, () => call(project, {})));
    expect(unpaid.map(outcome)).toEqual(unpaid.map(() => [402, 'payment_required']));
    const before = fixture().hits();
    const paid = await Promise.all(payments.map((header) => call(project, header)));
    expect(paid.map(outcome)).toContainEqual([429, 'rate_limited']);
    for (const [n, { status }] of paid.entries()) {
      const again = () => call(project, payments[n]!);
      if (status === 429) await until(async () => (await again()).status === 200);
    }
    expect(fixture().hits()).toBe(before + payments.length);
  });
});

test.each(['GET', 'HEAD', 'OPTIONS', 'DELETE', 'POST', 'PUT', 'PATCH', 'PROPFIND'])(
  '%s reaches the upstream as it was sent, below its base path',
  async (method) => {
    const { client, key, newProject, payer, upstream } = fixture();
    const project = await newProject({ upstream: { url: `${upstream.origin}/base/?own=1` } });
    const { header } = await fixture().pay({ project });
    const hasBody = ['POST', 'PUT', 'PATCH'].includes(method);
    const init = { method, ...(hasBody ? { body: '{"a":"ä"}' } : {}) };
    const headers = { ...key.headers, ...header };
    const answer = await client.call(`${project.slug}/a/b%20c//d?x=1&x=%2F2`, { ...init, headers });
    expect([answer.status, answer.text]).toEqual([200, method === 'HEAD' ? '' : 'paid for']);
    const received = upstream.received.at(-1)!;
    expect([received.method, received.path, received.body]).toEqual([
      method,
      '/base/a/b%20c//d?own=1&x=1&x=%2F2',
      hasBody ? '{"a":"ä"}' : '',
    ]);
    const { path: url, body } = received;
    expect(verifyGateway({ ...received, url }, project.gateway_secret, { body })).toMatchObject({
      ok: true,
      payer: payer.publicKey.toBase58(),
      amount: '0.012347',
      token: 'USDC',
    });
    expect(verifyGateway({ ...received, url }, 'gws_another', { body })).toMatchObject({ ok: false });
  },
);

test('a preflight of a browser is answered without a key, and never reaches the upstream', async () => {
  const { client, hits, project } = fixture();
  const before = hits();
  const asked = { origin: 'https://shop.example', 'access-control-request-method': 'POST' };
  const answer = await client.call(project.slug, { method: 'OPTIONS', headers: asked });
  expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
  expect(hits()).toBe(before);
});

test('what an upstream tells shared caches stays behind: a call is its caller’s, and says what it was decided by', async () => {
  const { newProject, upstream } = fixture();
  const said = { 'cache-control': 'public, max-age=60', 'cdn-cache-control': 'max-age=60', 'x-accel-expires': '60' };
  upstream.respond((res) => void res.writeHead(200, { ...said, vary: 'Accept' }).end('paid for'));
  const project = await newProject();
  const { header } = await fixture().pay({ project });
  for (const replayed of [null, 'true']) {
    const { status, headers } = await call(project, header);
    expect([status, headers.get('idempotency-replayed')]).toEqual([200, replayed]);
    expect(Object.keys(said).map((name) => headers.get(name))).toEqual(['private, max-age=60', null, null]);
    const vary = (headers.get('vary') ?? '').toLowerCase().split(', ');
    const decisive = ['x-service-key', 'x-service-secret', 'x-service-payment', 'payment-signature', 'x-payment'];
    expect(vary).toEqual(expect.arrayContaining(['accept', ...decisive]));
  }
});
