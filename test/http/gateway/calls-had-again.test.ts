import type { ServerResponse } from 'node:http';
import { type CallsOnCredit, newName, openCallsOnCredit, type Sent } from '../../helpers/fixtures/calls-on-credit.js';
import type { ClientResponse } from '../../helpers/fixtures/gateway-client.js';
import { type GatewayFixture, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { buyPass } from '../../helpers/http/passes.js';
import { DAILY_DATABASES } from '../../helpers/storage/both-databases.js';
import { until } from '../../helpers/until.js';

describe.each(DAILY_DATABASES)('a call that was paid before, on %s', (...database) => {
  const opened = useGatewayFixture(database, { keepsPasses: true, limitScale: 100 });
  let fixture: GatewayFixture;
  let calls: CallsOnCredit;
  let served = 0;
  const answers = (res: ServerResponse): void => {
    served += 1;
    res.writeHead(200, { 'content-type': 'text/plain', 'x-number': String(served) }).end(`job ${served}`);
  };

  beforeAll(() => {
    fixture = opened();
  });
  beforeEach(async () => {
    served = 0;
    calls = await openCallsOnCredit(fixture, answers);
  });

  function expectSame(again: ClientResponse, first: string): void {
    expect([again.status, again.text]).toEqual([200, first]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
  }

  test('from credit is had again by its Idempotency-Key, and is charged once', async () => {
    await calls.leaveCredit(2);
    const name = newName();
    const first = await calls.call(name);
    expect(first.status).toBe(200);
    const hits = fixture.hits();
    const again = await calls.call(name);
    expectSame(again, first.text);
    expect(again.headers.get('x-number')).toBe(first.headers.get('x-number'));
    expect([fixture.hits(), await calls.creditOf()]).toEqual([hits, ['0.012347']]);
  });

  test('from the last of its credit is had again though its line went down before the response', async () => {
    await calls.leaveCredit();
    const name = newName();
    await calls.loseLine(name);
    await until(async () => (await calls.creditOf()).length === 0);
    const hits = fixture.hits();
    expectSame(await calls.call(name), `job ${served}`);
    expect(fixture.hits()).toBe(hits);
    expect((await calls.call()).status).toBe(402);
  });

  test('from credit is had again by the payment that it came with', async () => {
    const [payment = {}] = await calls.leaveCredit(2);
    const first = await calls.call(payment);
    const hits = fixture.hits();
    expect(first.status).toBe(200);
    expectSame(await calls.call(payment), first.text);
    expect([fixture.hits(), await calls.creditOf()]).toEqual([hits, ['0.012347']]);
    await calls.loseLine(payment, 'another job');
    await until(async () => (await calls.creditOf()).length === 0);
    expectSame(await calls.call(payment, 'another job'), `job ${served}`);
  });

  test('in part is had again in that very part, by its key and by the payment that it came with', async () => {
    const [payment = {}] = await calls.leaveCredit(3);
    const partial = (res: ServerResponse): void =>
      void res.writeHead(206, { 'content-range': 'bytes 0-2/9' }).end('job');
    fixture.upstream.respond(partial);
    const [name, range] = [newName(), { range: 'bytes=0-2' }];
    for (const [by, status, code] of [
      [name, 422, 'idempotency_key_reused'],
      [payment, 402, 'payment_already_used'],
    ] as const) {
      const first = await calls.call({ ...by, ...range });
      expect([first.status, first.text]).toEqual([206, 'job']);
      const hits = fixture.hits();
      for (const other of [by, { ...by, range: 'bytes=3-5' }]) {
        const refused = await calls.call(other);
        expect([refused.status, JSON.parse(refused.text).code]).toEqual([status, code]);
      }
      const again = await calls.call({ ...by, ...range });
      expect([again.status, again.text, again.headers.get('idempotency-replayed')]).toEqual([206, 'job', 'true']);
      expect(fixture.hits()).toBe(hits);
    }
  });

  test('from a response too long to be written with it is had again whole', async () => {
    await calls.leaveCredit(2);
    const name = newName();
    const text = 'x'.repeat(200_000);
    await calls.loseLine(name, 'much', (res) => void res.end(text));
    await until(async () => (await calls.creditOf())[0] === '0.012347');
    expectSame(await calls.call(name, 'much'), text);
  });

  test('by the last use of a pass is had again by its Idempotency-Key', async () => {
    calls = await openCallsOnCredit(fixture, answers, {
      pricing: { offers: [{ amount: '0.05', token: 'USDC', pass: { uses: 3 } }] },
    });
    const { url, caller } = calls;
    const payer = { sandbox: fixture.sandbox, payer: caller.wallet };
    const { token } = await buyPass(payer, url, { method: 'POST', headers: caller.key.headers });
    const by = (name: Sent): Sent => ({ ...(token as Sent), ...name });
    const [one, other] = [newName(), newName()];
    const first = await calls.call(by(one));
    expect([first.status, first.headers.get('access-pass-remaining')]).toEqual([200, '1']);
    expectSame(await calls.call(by(one)), first.text);
    await calls.loseLine(by(other));
    await until(async () => (await calls.call(by(other))).headers.get('idempotency-replayed') === 'true');
    expectSame(await calls.call(by(other)), `job ${served}`);
    expect((await calls.call(by(newName()))).status).toBe(402);
  });

  test('is run again under its key where it has failed, and takes nothing until it has not', async () => {
    await calls.leaveCredit();
    const name = newName();
    fixture.upstream.respond((res) => void res.writeHead(500).end('sorry'));
    expect((await calls.call(name)).status).toBe(500);
    await calls.loseLine(name, 'what is asked', (res) => void res.writeHead(503).end());
    await until(async () => (await calls.call(name)).status === 200);
    expect(await calls.creditOf()).toEqual([]);
  });

  test('is nobody else’s to have, and no other request’s', async () => {
    await calls.leaveCredit(2);
    const name = newName();
    const first = await calls.call(name);
    const stranger = await fixture.newCaller();
    expect((await calls.call(name, 'what is asked', stranger)).status).toBe(402);
    const other = await calls.call(name, 'another job');
    expect([other.status, other.body['code']]).toEqual([422, 'idempotency_key_reused']);
    expectSame(await calls.call(name), first.text);
    expect(await calls.creditOf()).toEqual(['0.012347']);
  });

  test('from the last of its credit is told that it is running where it comes again meanwhile, however soon', async () => {
    const payments = await calls.leaveCredit(8);
    for (const _ of payments) {
      const name = newName();
      const twice = await Promise.all([calls.call(name), calls.call(name)]);
      for (const { status, text } of twice) {
        if (status === 200) expect(text).toBe(`job ${served}`);
        else expect(status).toBe(409);
      }
    }
    expect([served, await calls.creditOf()]).toEqual([8, []]);
  });

  test('is run once where it comes twice at once', async () => {
    await calls.leaveCredit(2);
    const name = newName();
    const held: ServerResponse[] = [];
    fixture.upstream.respond((res) => void held.push(res));
    const first = calls.call(name);
    await until(() => held.length === 1);
    const second = await calls.call(name);
    expect([second.status, second.body['code']]).toEqual([409, 'idempotency_in_progress']);
    answers(held[0]!);
    const { text } = await first;
    expectSame(await calls.call(name), text);
    expect(await calls.creditOf()).toEqual(['0.012347']);
  });
});
