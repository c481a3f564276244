import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { request } from 'node:http';
import type { ClientResponse, MadeProject } from '../../helpers/fixtures/gateway-client.js';
import { type Caller, type GatewayFixture, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { buyPass } from '../../helpers/http/passes.js';
import { BOTH_DATABASES } from '../../helpers/storage/both-databases.js';
import { until } from '../../helpers/until.js';

type Sent = Readonly<Record<string, string>>;

describe.each(BOTH_DATABASES)('a call that was paid before, on %s', (...database) => {
  const opened = useGatewayFixture(database, { keepsPasses: true, limitScale: 100 });
  let fixture: GatewayFixture;
  let caller: Caller;
  let project: MadeProject;
  let served = 0;
  const answers = (res: ServerResponse): void => {
    served += 1;
    res.writeHead(200, { 'content-type': 'text/plain', 'x-number': String(served) }).end(`job ${served}`);
  };

  beforeAll(() => {
    fixture = opened();
  });
  beforeEach(async () => {
    caller = await fixture.newCaller();
    project = await fixture.newProject();
    fixture.upstream.respond(answers);
  });

  const call = (sent: Sent = {}, body = 'what is asked', by = caller): Promise<ClientResponse> =>
    fixture.client.call(`${project.slug}/job`, { method: 'POST', body, headers: { ...by.key.headers, ...sent } });
  const named = (): Sent => ({ 'idempotency-key': randomUUID() });
  const urlOf = ({ slug }: MadeProject) => `${fixture.client.url}/v1/${slug}/job`;

  /** Has so many calls of the caller paid and failed, each with its payment. */
  async function leaveCredit(calls = 1): Promise<readonly Sent[]> {
    fixture.upstream.respond((res) => void res.writeHead(500).end('sorry'));
    const payments: Sent[] = [];
    for (let n = 0; n < calls; n += 1) {
      const { header } = await fixture.pay({ project, caller });
      expect((await call(header)).status).toBe(500);
      payments.push(header);
    }
    fixture.upstream.respond(answers);
    return payments;
  }

  const creditOf = async () => {
    const by = await fixture.client.signIn(caller.wallet);
    const { body } = await fixture.client.ask('GET', `/api/v1/spending?project=${project.id}`, undefined, by);
    return (body['credit'] as readonly { readonly amount: string }[]).map(({ amount }) => amount);
  };

  /** Calls, loses the line when the upstream has the request, and has the upstream answer then. */
  async function loseLine(sent: Sent, body = 'what is asked', answer = answers): Promise<void> {
    const before = fixture.hits();
    const held: ServerResponse[] = [];
    fixture.upstream.respond((res) => void held.push(res));
    const headers = { ...caller.key.headers, ...sent, 'content-type': 'text/plain;charset=UTF-8' };
    const asked = request(urlOf(project), { method: 'POST', headers, agent: false }).on('error', () => undefined);
    asked.end(body);
    await until(() => held.length === 1 && fixture.hits() > before);
    asked.destroy();
    // Whatever is sent after it finds that the line is down.
    for (let n = 0; n < 3; n += 1) await fixture.client.ask('GET', '/supported');
    fixture.upstream.respond(answers);
    answer(held[0]!);
  }

  function expectSame(again: ClientResponse, first: string): void {
    expect([again.status, again.text]).toEqual([200, first]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
  }

  test('from credit is had again by its Idempotency-Key, and is charged once', async () => {
    await leaveCredit(2);
    const name = named();
    const first = await call(name);
    expect(first.status).toBe(200);
    const hits = fixture.hits();
    const again = await call(name);
    expectSame(again, first.text);
    expect(again.headers.get('x-number')).toBe(first.headers.get('x-number'));
    expect([fixture.hits(), await creditOf()]).toEqual([hits, ['0.012347']]);
  });

  test('from the last of its credit is had again though its line went down before the response', async () => {
    await leaveCredit();
    const name = named();
    await loseLine(name);
    await until(async () => (await creditOf()).length === 0);
    const hits = fixture.hits();
    expectSame(await call(name), `job ${served}`);
    expect(fixture.hits()).toBe(hits);
    expect((await call()).status).toBe(402);
  });

  test('from credit is had again by the payment that it came with', async () => {
    const [payment = {}] = await leaveCredit(2);
    const first = await call(payment);
    const hits = fixture.hits();
    expect(first.status).toBe(200);
    expectSame(await call(payment), first.text);
    expect([fixture.hits(), await creditOf()]).toEqual([hits, ['0.012347']]);
    await loseLine(payment, 'another job');
    await until(async () => (await creditOf()).length === 0);
    expectSame(await call(payment, 'another job'), `job ${served}`);
  });

  test('from a response too long to be written with it is had again whole', async () => {
    await leaveCredit(2);
    const name = named();
    const text = 'x'.repeat(200_000);
    await loseLine(name, 'much', (res) => void res.end(text));
    await until(async () => (await creditOf())[0] === '0.012347');
    expectSame(await call(name, 'much'), text);
  });

  test('by the last use of a pass is had again by its Idempotency-Key', async () => {
    project = await fixture.newProject({
      pricing: { offers: [{ amount: '0.05', token: 'USDC', pass: { uses: 3 } }] },
    });
    const payer = { sandbox: fixture.sandbox, payer: caller.wallet };
    const { token } = await buyPass(payer, urlOf(project), { method: 'POST', headers: caller.key.headers });
    const by = (name: Sent): Sent => ({ ...(token as Sent), ...name });
    const [one, other] = [named(), named()];
    const first = await call(by(one));
    expect([first.status, first.headers.get('access-pass-remaining')]).toEqual([200, '1']);
    expectSame(await call(by(one)), first.text);
    await loseLine(by(other));
    await until(async () => (await call(by(other))).headers.get('idempotency-replayed') === 'true');
    expectSame(await call(by(other)), `job ${served}`);
    expect((await call(by(named()))).status).toBe(402);
  });

  test('is run again under its key where it has failed, and takes nothing until it has not', async () => {
    await leaveCredit();
    const name = named();
    fixture.upstream.respond((res) => void res.writeHead(500).end('sorry'));
    expect((await call(name)).status).toBe(500);
    await loseLine(name, 'what is asked', (res) => void res.writeHead(503).end());
    await until(async () => (await call(name)).status === 200);
    expect(await creditOf()).toEqual([]);
  });

  test('is nobody else’s to have, and no other request’s', async () => {
    await leaveCredit(2);
    const name = named();
    const first = await call(name);
    const stranger = await fixture.newCaller();
    expect((await call(name, 'what is asked', stranger)).status).toBe(402);
    const other = await call(name, 'another job');
    expect([other.status, other.body['code']]).toEqual([422, 'idempotency_key_reused']);
    expectSame(await call(name), first.text);
    expect(await creditOf()).toEqual(['0.012347']);
  });

  test.each([
    ['an empty Idempotency-Key', '  ', 'what is asked'],
    ['a body too long to be compared', randomUUID(), 'x'.repeat(1_100_000)],
  ])('has no name with %s', async (_, key, body) => {
    await leaveCredit(2);
    for (let n = 0; n < 2; n += 1) {
      const { status, headers } = await call({ 'idempotency-key': key }, body);
      expect([status, headers.get('idempotency-replayed')]).toEqual([200, null]);
    }
    expect(await creditOf()).toEqual([]);
  });

  test('is charged for a stream of events that its caller leaves, and its upstream is let go', async () => {
    await leaveCredit();
    let stream: ServerResponse | undefined;
    fixture.upstream.respond((res) => {
      stream = res;
      res.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
    });
    const headers = { ...caller.key.headers, ...named() };
    const asked = request(urlOf(project), { method: 'POST', headers, agent: false }).on('error', () => undefined);
    asked.on('response', (response) => {
      response.on('error', () => undefined).once('data', () => asked.destroy());
    });
    asked.end();
    await until(() => stream?.destroyed === true);
    await until(async () => (await creditOf()).length === 0);
  });

  test('is run once where it comes twice at once', async () => {
    await leaveCredit(2);
    const name = named();
    const held: ServerResponse[] = [];
    fixture.upstream.respond((res) => void held.push(res));
    const first = call(name);
    await until(() => held.length === 1);
    const second = await call(name);
    expect([second.status, second.body['code']]).toEqual([409, 'idempotency_in_progress']);
    answers(held[0]!);
    const { text } = await first;
    expectSame(await call(name), text);
    expect(await creditOf()).toEqual(['0.012347']);
  });
});
