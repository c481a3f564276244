import { Webhook } from 'standardwebhooks';
import { newWebhookSecret } from '../../../../src/gateway/webhooks/webhook-signature.js';
import { openWebhookFixture, senderWith, type WebhookFixture } from '../../../helpers/fixtures/webhook-fixture.js';
import { type Receiver, startReceiver, status } from '../../../helpers/http/webhook-receiver.js';
import { ALICE, anEvent } from '../../../helpers/http/webhook-samples.js';
import { until } from '../../../helpers/until.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const PAUSES = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR];

let fixture: WebhookFixture;
let receiver: Receiver;

beforeEach(async () => {
  fixture = await openWebhookFixture();
  receiver = await startReceiver();
});
afterEach(async () => {
  await fixture.close();
  await receiver.close();
});

/** The deliveries' clock goes on until so much has passed, and everything due on the way is attempted. */
async function pass(milliseconds: number, step: number): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += step) {
    await fixture.advance(step);
    await fixture.worker.runDue();
  }
}

test('an event arrives as it was decided, under its id; a time that was changed is found out', async () => {
  const secret = newWebhookSecret();
  const webhook = await fixture.register({ url: receiver.url, secret });
  const event = anEvent({ projectId: 'prj_1', at: Date.now(), data: { text: 'ünï 🔑' } });
  await fixture.tell(event);
  expect(await fixture.worker.runDue()).toBe(1);

  const [message] = receiver.received;
  expect(message?.path).toBe('/hook?x=1');
  expect(message?.headers['content-type']).toBe('application/json');
  expect(message?.headers['webhook-id']).toBe(event.id);
  expect(message?.headers['webhook-timestamp']).toBe(String(Math.floor(fixture.now() / SECOND)));
  const headers = {
    ...(message!.headers as Record<string, string>),
    'webhook-timestamp': String(Math.floor(Date.now() / SECOND)),
  };
  expect(() => new Webhook(secret).verify(message!.body, headers)).toThrow('No matching signature found');
  expect(JSON.parse(message!.body)).toEqual({
    id: event.id,
    type: event.type,
    timestamp: new Date(event.at).toISOString(),
    project_id: 'prj_1',
    mode: null,
    data: event.data,
  });
  expect(await fixture.deliveries.list(webhook.id, { limit: 9 })).toMatchObject([{ state: 'delivered', attempts: 1 }]);
  expect(await fixture.worker.runDue()).toBe(0);
});

test('a signature made now is taken by the official package, also under the old secret for a day after a rotation', async () => {
  const [secret, previousSecret] = [newWebhookSecret(), newWebhookSecret()];
  const now = Date.now;
  await fixture.register({ url: receiver.url, secret, previousSecret, previousUntil: Date.now() + MINUTE });
  await fixture.tell(anEvent());
  const worker = fixture.workerWith({ now });
  await worker.runDue();
  const [message] = receiver.received;
  const headers = message!.headers as Record<string, string>;
  for (const one of [secret, previousSecret])
    expect(new Webhook(one).verify(message!.body, headers)).toMatchObject({ type: 'payment.settled' });
  expect(() => new Webhook(newWebhookSecret()).verify(message!.body, headers)).toThrow();

  await fixture.tell(anEvent());
  await fixture.workerWith({ now: () => Date.now() + 2 * MINUTE }).runDue();
  const later = receiver.received[1]!;
  expect(later.headers['webhook-signature']).not.toContain(' ');
  expect(() => new Webhook(previousSecret).verify(later.body, later.headers as Record<string, string>)).toThrow();
});

test('a receiver that is down for a day gets everything once it is up, each event under its id', async () => {
  const webhook = await fixture.register({ url: receiver.url });
  const events = [anEvent(), anEvent({ type: 'call.failed' })];
  await fixture.tell(...events);
  await receiver.close();
  await fixture.worker.runDue();
  await pass(DAY, 30 * MINUTE);
  expect((await fixture.attemptsOf(webhook)).map((it) => it.error)).toEqual(Array(14).fill('ECONNREFUSED'));
  expect(await fixture.webhooks.find(ALICE, webhook.id)).toMatchObject({ failingSince: fixture.now() - DAY });

  const back = await startReceiver();
  await fixture.webhooks.change(
    ALICE,
    webhook.id,
    { url: back.url, events: ['*'], description: undefined },
    fixture.now(),
  );
  await pass(DAY, 2 * HOUR);
  expect(new Set(back.received.map(({ headers }) => headers['webhook-id']))).toEqual(
    new Set(events.map(({ id }) => id)),
  );
  expect(back.received).toHaveLength(2);
  expect(await fixture.webhooks.find(ALICE, webhook.id)).not.toHaveProperty('failingSince');
  await back.close();
});

test('a receiver that answers 500 is asked ten times at the pauses that were decided, then no more', async () => {
  receiver.respond((res) => void res.writeHead(500).end('broken'));
  const webhook = await fixture.register({ url: receiver.url });
  await fixture.tell(anEvent());
  await fixture.worker.runDue();
  for (const pause of PAUSES) {
    await fixture.advance(pause - 1);
    expect(await fixture.worker.runDue()).toBe(0);
    await fixture.advance(1);
    expect(await fixture.worker.runDue()).toBe(1);
  }
  await fixture.advance(5 * DAY);
  expect(await fixture.worker.runDue()).toBe(0);

  const attempts = await fixture.attemptsOf(webhook);
  expect(attempts.map((it) => it.number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(attempts[9]).toMatchObject({ status: 500, answer: 'broken', durationMs: expect.any(Number) });
  expect(attempts.slice(1).map((it, at) => it.at - attempts[at]!.at)).toEqual(PAUSES);
  expect(new Set(receiver.received.map(({ headers, body }) => `${headers['webhook-id']} ${body}`)).size).toBe(1);
  expect(await fixture.deliveries.list(webhook.id, { limit: 9 })).toMatchObject([{ state: 'failed', attempts: 10 }]);
});

test.each([
  [0, 0.8],
  [0.999_999, 1.2],
])('pauses are spread: with the random number %d the first is %d times as long', async (random, factor) => {
  receiver.respond(status(503));
  const webhook = await fixture.register({ url: receiver.url });
  await fixture.tell(anEvent());
  await fixture.workerWith({ random: () => random }).runDue();
  const [delivery] = await fixture.deliveries.list(webhook.id, { limit: 1 });
  expect((delivery?.nextAt ?? 0) - fixture.now()).toBe(Math.round(factor * 5_000));
});

test.each([
  ['three minutes', '180', 180 * SECOND],
  ['less than the schedule', '1', 5 * SECOND],
  ['a year: a day at most', '31536000', DAY],
  ['a date', new Date(1_700_000_000_000 + HOUR).toUTCString(), HOUR],
  ['a date that is over', new Date(0).toUTCString(), 5 * SECOND],
  ['nothing that can be read', 'soon', 5 * SECOND],
])('Retry-After is honoured: %s', async (_what, retryAfter, pause) => {
  receiver.respond(status(429, { 'retry-after': retryAfter }));
  const webhook = await fixture.register({ url: receiver.url });
  await fixture.tell(anEvent());
  await fixture.worker.runDue();
  const [delivery] = await fixture.deliveries.list(webhook.id, { limit: 1 });
  expect((delivery?.nextAt ?? 0) - fixture.now()).toBe(pause);
});

test('silence, and an answer that drips, are ended in time and have failed', async () => {
  const timeoutMs = 400;
  const worker = fixture.workerWith({ sender: senderWith(timeoutMs) });
  const silent = await fixture.register({ url: receiver.url });
  receiver.respond(() => {});
  await fixture.tell(anEvent());
  await worker.runDue();
  expect(await fixture.attemptsOf(silent)).toMatchObject([{ error: 'timeout' }]);
  expect((await fixture.attemptsOf(silent))[0]!.durationMs).toBeGreaterThanOrEqual(timeoutMs - 5);

  receiver.respond((res) => {
    res.writeHead(200);
    const drip = setInterval(() => res.write('.'), 20);
    res.once('close', () => clearInterval(drip));
  });
  await fixture.advance(PAUSES[0]!);
  await worker.runDue();
  expect((await fixture.attemptsOf(silent))[1]).toMatchObject({ status: 200, error: 'timeout' });
  expect(await fixture.deliveries.list(silent.id, { limit: 1 })).toMatchObject([{ state: 'pending' }]);
});

test('a request that says how long it may take is waited for as long', async () => {
  const sender = senderWith(20);
  receiver.respond(() => {});
  const answer = await sender.send({ url: receiver.url, headers: {}, body: '{}', timeoutMs: 200 });
  expect(answer.error).toBe('timeout');
  expect(answer.durationMs).toBeGreaterThanOrEqual(195);
  await sender.close();
});

test('redirects are not followed and are no success', async () => {
  const other = await startReceiver();
  receiver.respond(status(307, { location: other.url }));
  const webhook = await fixture.register({ url: receiver.url });
  await fixture.tell(anEvent());
  await fixture.worker.runDue();
  expect(await fixture.attemptsOf(webhook)).toMatchObject([{ status: 307 }]);
  expect(other.received).toEqual([]);
  await other.close();
});

test.each([
  ['fails', 500, `a\ufffd${'x'.repeat(254)}`],
  ['succeeds', 200, undefined],
])('of a long answer to an attempt that %s there is kept what tells what went wrong', async (_what, code, kept) => {
  receiver.respond((res) => {
    res.writeHead(code);
    res.write(`a\0${'x'.repeat(100_000)}`);
  });
  const webhook = await fixture.register({ url: receiver.url });
  await fixture.tell(anEvent());
  await fixture.worker.runDue();
  const [attempt] = await fixture.attemptsOf(webhook);
  expect(attempt).not.toHaveProperty('error');
  expect(attempt?.answer).toBe(kept);
});

test('410 disables at once, gives up the rest, and the owner is told', async () => {
  receiver.respond(status(410));
  const gone = await fixture.register({ url: receiver.url, events: ['payment.settled'], projectId: 'prj_1' });
  const other = await startReceiver();
  await fixture.register({ url: other.url, events: ['webhook.disabled'] });
  await fixture.tell(...Array.from({ length: 9 }, () => anEvent({ projectId: 'prj_1' })));
  await fixture.worker.runDue();

  expect(receiver.received.length).toBeLessThanOrEqual(4);
  expect(await fixture.webhooks.find(ALICE, gone.id)).toMatchObject({ disabledReason: 'gone' });
  const all = await fixture.deliveries.list(gone.id, { limit: 20 });
  expect(all.map(({ state }) => state)).toEqual(Array(9).fill('failed'));
  expect(other.received).toHaveLength(1);
  expect(JSON.parse(other.received[0]!.body)).toMatchObject({
    type: 'webhook.disabled',
    project_id: 'prj_1',
    data: { webhook_id: gone.id, url: receiver.url, reason: 'gone' },
  });
  await other.close();
});

test('five days without a success disable, four do not, and a success begins anew', async () => {
  receiver.respond(status(500));
  const webhook = await fixture.register({ url: receiver.url });
  const dayOf = async (): Promise<unknown> => {
    await fixture.tell(anEvent());
    await fixture.worker.runDue();
    await fixture.advance(DAY);
    return (await fixture.webhooks.find(ALICE, webhook.id))?.disabledReason;
  };
  expect([await dayOf(), await dayOf(), await dayOf(), await dayOf(), await dayOf()]).toEqual(Array(5).fill(undefined));
  receiver.respond(status(200));
  await fixture.worker.runDue();
  receiver.respond(status(500));
  const began = fixture.now();
  for (let day = 0; day < 5; day += 1) expect(await dayOf()).toBeUndefined();
  expect(await dayOf()).toBe('failing');
  const [told] = await fixture.log.list(ALICE, { types: ['webhook.disabled'], limit: 9 });
  expect(told?.data).toMatchObject({ reason: 'failing', failing_since: new Date(began).toISOString() });
});

test('at most four are under way to one receiver, and a slow one does not hold up another', async () => {
  const waiting: (() => void)[] = [];
  receiver.respond((res) => void waiting.push(() => res.writeHead(204).end()));
  const quick = await startReceiver();
  const slow = await fixture.register({ url: receiver.url, events: ['payment.settled'] });
  await fixture.register({ url: quick.url, events: ['call.failed'] });
  await fixture.tell(
    ...Array.from({ length: 10 }, () => anEvent()),
    ...Array.from({ length: 10 }, () => anEvent({ type: 'call.failed' })),
  );
  const done = fixture.worker.runDue();
  await until(() => waiting.length === 4 && quick.received.length >= 4);
  await until(async () => {
    waiting.shift()?.();
    return (await fixture.deliveries.list(slow.id, { state: 'delivered', limit: 20 })).length === 10;
  });
  await done;
  expect(receiver.atMost()).toBe(4);
  expect(quick.received).toHaveLength(10);
  await quick.close();
});

test('a worker that is killed in mid-delivery loses none: another one takes over when its lease has run out', async () => {
  const webhook = await fixture.register({ url: receiver.url });
  await fixture.tell(anEvent(), anEvent());
  await fixture.deliveries.fanOut(10);
  const held = await fixture.deliveries.take(webhook.id, { lease: 'of the dead', leaseMs: MINUTE, atOnce: 4 });
  expect(held).toHaveLength(2);
  expect(await fixture.worker.runDue()).toBe(0);
  await fixture.advance(MINUTE);
  expect(await fixture.worker.runDue()).toBe(2);
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(
    new Set(held.map((it) => it.event.id)),
  );
});

test('a receiver at an address that may not be called is not connected to', async () => {
  const webhook = await fixture.register({ url: receiver.url.replace('127.0.0.1', '[::1]') });
  const inside = await fixture.register({ url: 'https://169.254.169.254/latest/meta-data' });
  await fixture.tell(anEvent());
  await fixture.worker.runDue();
  for (const one of [webhook, inside])
    expect(await fixture.attemptsOf(one)).toMatchObject([{ error: 'ERR_ADDRESS_REFUSED' }]);
  expect(receiver.received).toEqual([]);
});

test('a started worker delivers when it is woken, and finishes what is under way before it stops', async () => {
  let answer = () => {};
  receiver.respond((res) => {
    answer = () => void res.writeHead(204).end();
  });
  const webhook = await fixture.register({ url: receiver.url });
  fixture.worker.start();
  await fixture.tell(anEvent());
  fixture.worker.wake();
  await until(() => receiver.received.length === 1);
  let isStopped = false;
  const stopped = fixture.worker.stop().then(() => {
    isStopped = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(isStopped).toBe(false);
  answer();
  await stopped;
  expect(await fixture.deliveries.list(webhook.id, { limit: 1 })).toMatchObject([{ state: 'delivered' }]);
  await fixture.tell(anEvent());
  fixture.worker.wake();
  expect(await fixture.deliveries.due(4, 9)).toEqual([]);
  expect(fixture.errors).toEqual([]);
});
