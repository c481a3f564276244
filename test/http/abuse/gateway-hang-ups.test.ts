import { request } from 'node:http';
import { CALL_PRICE, type MadeProject } from '../../helpers/fixtures/gateway-client.js';
import { useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import { signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const fixture = useGatewayFixture();

/** Calls a project and hangs up when the response says a word. */
function hangUp(url: string, headers: ProofHeaders, word: string): Promise<string> {
  return new Promise((resolve) => {
    let read = '';
    const sent = request(url, { headers, agent: false }, (res) => {
      res.on('data', (chunk: Buffer) => {
        read += chunk.toString();
        if (read.includes(word)) sent.destroy();
      });
    });
    sent.on('error', () => undefined).once('close', () => resolve(read));
    sent.end();
  });
}

const urlOf = ({ slug }: MadeProject, query: string): string => `${fixture().client.url}/v1/${slug}/ask?${query}`;

/** What comes of asking, once nobody else is being served for the payment. */
async function ask(url: string, headers: ProofHeaders) {
  let answer = await fetch(url, { headers });
  for (; answer.status === 409; answer = await fetch(url, { headers })) await answer.arrayBuffer();
  const text = await answer.text();
  return { status: answer.status, text, code: answer.status === 200 ? undefined : JSON.parse(text).code };
}

describe.each(['x402', 'a proof'])('a caller who pays by %s for a stream, reads it and hangs up', (way) => {
  test('has had it: one stream for one payment, booked as a paid call and no failure', async () => {
    const { client, key, upstream } = fixture();
    const project = await fixture().newProject();
    const before = fixture().hits();
    upstream.respond((res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write('data: one\n\ndata: last word\n\n');
    });
    const paid =
      way === 'x402'
        ? (await signPayment(fixture(), urlOf(project, 'q=1'), { init: { headers: key.headers } })).v2
        : (await fixture().pay({ project })).header;
    const headers = { ...key.headers, ...paid };
    expect(await hangUp(urlOf(project, 'q=1'), headers, 'last word')).toContain('last word');
    for (const query of ['q=2', 'q=1', 'q=3']) {
      expect(await ask(urlOf(project, query), headers)).toMatchObject({ status: 402, code: 'payment_already_used' });
    }
    expect(fixture().hits() - before).toBe(1);
    await until(async () => {
      const { body } = await client.ask(
        'GET',
        `/api/v1/projects/${project.id}/analytics`,
        undefined,
        fixture().asOwner,
      );
      return JSON.stringify(body['totals']).includes('"paid":1');
    });
    const { body } = await client.ask('GET', `/api/v1/projects/${project.id}/analytics`, undefined, fixture().asOwner);
    expect(body['totals']).toMatchObject({ calls: 1, paid: 1, upstream_errors: 0 });
  });

  test('gets a short response again to the byte, for the same call only', async () => {
    const { key, upstream } = fixture();
    const project = await fixture().newProject();
    const before = fixture().hits();
    upstream.respond((res) => void res.end(`answer ${fixture().hits()}`));
    const paid =
      way === 'x402'
        ? (await signPayment(fixture(), urlOf(project, 'q=1'), { init: { headers: key.headers } })).v2
        : (await fixture().pay({ project })).header;
    const headers = { ...key.headers, ...paid };
    const first = await ask(urlOf(project, 'q=1'), headers);
    expect(await ask(urlOf(project, 'q=1'), headers)).toEqual(first);
    expect(await ask(urlOf(project, 'q=2'), headers)).toMatchObject({ status: 402, code: 'payment_already_used' });
    const other = { ...(await fixture().newCaller()).key.headers, ...paid };
    expect(await ask(urlOf(project, 'q=1'), other)).toMatchObject({ status: 402 });
    expect(first.status).toBe(200);
    expect(fixture().hits() - before).toBe(1);
  });
});

test('a caller who is gone when his money lands has it as credit in the books, and his response for it when he comes again', async () => {
  const { client, key, upstream, sandbox, asOwner } = fixture();
  const project = await fixture().newProject();
  const before = fixture().hits();
  upstream.respond((res) => void res.end('answered'));
  const url = urlOf(project, 'q=1');
  const headers = { ...key.headers, ...(await signPayment(fixture(), url, { init: { headers: key.headers } })).v2 };
  const { sendTransaction = 0 } = sandbox.calls;
  sandbox.pauseSlots();
  const leaving = new AbortController();
  const asked = fetch(url, { headers, signal: leaving.signal });
  await until(() => (sandbox.calls.sendTransaction ?? 0) > sendTransaction);
  leaving.abort();
  await expect(asked).rejects.toThrow();
  sandbox.resumeSlots();
  await until(async () => {
    const { body } = await client.ask('GET', `/api/v1/projects/${project.id}/analytics`, undefined, asOwner);
    return Object(body['totals']).credit_given_atomic.USDC === String(CALL_PRICE);
  });
  expect(await ask(url, headers)).toMatchObject({ status: 200, text: 'answered' });
  expect(fixture().hits() - before).toBe(1);
});
