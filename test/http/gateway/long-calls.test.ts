import type { ServerResponse } from 'node:http';
import { MAX_KEPT_BYTES } from '../../../src/middleware/response/response-recorder.js';
import { MOST_IN_GROUP } from '../../../src/storage/calls/call-writer.js';
import { type CallsOnCredit, newName, openCallsOnCredit, type Sent } from '../../helpers/fixtures/calls-on-credit.js';
import type { GatewayClient } from '../../helpers/fixtures/gateway-client.js';
import { type GatewayFixture, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { buyPass } from '../../helpers/http/passes.js';
import { SHARED_DATABASES } from '../../helpers/storage/both-databases.js';
import { until } from '../../helpers/until.js';

const PRICE = '0.012347';
const MINUTE_MS = 60_000;
/** All that a clock drives but for the date and what is done again and again. */
const REAL = [
  ...(['nextTick', 'setImmediate', 'clearImmediate', 'queueMicrotask', 'performance', 'hrtime'] as const),
  ...(['setTimeout', 'clearTimeout'] as const),
];

describe.each(SHARED_DATABASES)('a call that flows for longer than anybody expects, on %s', (...database) => {
  /** What could not be written. */
  let faults = 0;
  const onFault = (): void => {
    faults += 1;
  };
  const opened = useGatewayFixture(database, { keepsPasses: true, limitScale: 100, clock: () => Date.now(), onFault });
  let fixture: GatewayFixture;
  let calls: CallsOnCredit;
  let held: ServerResponse[];
  let other: GatewayClient;

  beforeAll(async () => {
    other = await opened().startAnother();
  });
  beforeEach(async () => {
    fixture = opened();
    [held, faults] = [[], 0];
    calls = await openCallsOnCredit(fixture, (res) => void res.end('at once'));
  });
  afterEach(() => jest.useRealTimers());

  /** Has what follows begin, and stand still until it is told to end. */
  function hold(): void {
    fixture.upstream.respond((res) => {
      held.push(res);
      res.write('begun, ');
    });
    jest.useFakeTimers({ doNotFake: [...REAL] });
  }

  async function isHeld(count = 1): Promise<void> {
    await until(() => held.length === count);
  }

  async function pass(minutes: number): Promise<void> {
    for (let n = 0; n < minutes * 10; n += 1) {
      jest.advanceTimersByTime(MINUTE_MS / 10);
      // What is done with each beat is done before the next one.
      await calls.creditOf();
    }
  }

  /** The first instance stands still: the time is another one, and nothing was done meanwhile. */
  const freeze = (minutes: number): void => jest.setSystemTime(Date.now() + minutes * MINUTE_MS);

  test('runs once under its Idempotency-Key, and is charged once', async () => {
    await calls.leaveCredit(2);
    const name = newName();
    hold();
    const first = calls.call(name);
    await isHeld();
    await pass(5);
    const second = await calls.call(name);
    expect([second.status, second.body['code']]).toEqual([409, 'idempotency_in_progress']);
    held[0]!.end('and done');
    expect((await first).text).toBe('begun, and done');
    expect((await calls.call(name)).text).toBe('begun, and done');
    expect([held.length, await calls.creditOf()]).toEqual([1, [PRICE]]);
  });

  test('holds the credit that pays it, which pays nothing else meanwhile', async () => {
    await calls.leaveCredit();
    hold();
    const first = calls.call();
    await isHeld();
    await pass(12);
    expect((await calls.call()).status).toBe(402);
    held[0]!.end('and done');
    expect((await first).status).toBe(200);
    await until(async () => (await calls.creditOf()).length === 0);
    expect((await calls.call()).status).toBe(402);
  });

  /** Has a call run by one instance, and while that stands still by another one. */
  async function runTwice(sent: Sent) {
    hold();
    const first = calls.call(sent);
    await isHeld();
    freeze(3);
    const second = calls.call(sent, undefined, undefined, other);
    await isHeld(2);
    return { first, second, ofFirst: held[0]!, ofSecond: held[1]! };
  }

  test.each([
    ['a short response', ''],
    ['a long one', 'x'.repeat(MOST_IN_GROUP)],
  ])(
    'with %s whose process stood still is charged where it was run meanwhile under its Idempotency-Key, and only there',
    async (_, more) => {
      await calls.leaveCredit(2);
      const name = newName();
      const { first, second, ofFirst, ofSecond } = await runTwice(name);
      ofSecond.end(`and done elsewhere${more}`);
      expect((await second).text).toBe(`begun, and done elsewhere${more}`);
      ofFirst.end(`and done${more}`);
      expect((await first).text).toBe(`begun, and done${more}`);
      await until(async () => (await calls.creditOf())[0] === PRICE);
      expect((await calls.call(name)).text).toBe(`begun, and done elsewhere${more}`);
    },
  );

  test('with a response that cannot be kept is charged once all the same, where it was run meanwhile', async () => {
    await calls.leaveCredit(2);
    const long = 'x'.repeat(MAX_KEPT_BYTES + 1);
    const { first, second, ofFirst, ofSecond } = await runTwice(newName());
    ofSecond.end(long);
    await second;
    await until(async () => (await calls.creditOf())[0] === PRICE);
    ofFirst.end(long);
    expect((await first).status).toBe(200);
    await until(async () => (await calls.creditOf())[0] === PRICE);
    fixture.upstream.respond((res) => void res.end('at once'));
    expect([(await calls.call()).status, await calls.creditOf()]).toEqual([200, []]);
  });

  /** Shows a pass of so many uses, of which one is taken. */
  async function showPass(uses: number): Promise<Sent> {
    const pricing = { offers: [{ amount: '0.05', token: 'USDC', pass: { uses } }] };
    calls = await openCallsOnCredit(fixture, (res) => void res.end('at once'), { pricing });
    const payer = { sandbox: fixture.sandbox, payer: calls.caller.wallet };
    const bought = await buyPass(payer, calls.url, { method: 'POST', headers: calls.caller.key.headers });
    return bought.token as Sent;
  }

  test.each([
    ['a short response', ''],
    ['a long one', 'x'.repeat(MOST_IN_GROUP)],
  ])('on a pass, with %s, whose process stood still, takes one use under its Idempotency-Key', async (_, more) => {
    const pass = await showPass(3);
    const name = { ...pass, ...newName() };
    const { first, second, ofFirst, ofSecond } = await runTwice(name);
    ofSecond.end(`and done elsewhere${more}`);
    await second;
    ofFirst.end(`and done${more}`);
    await first;
    expect((await calls.call(name)).text).toBe(`begun, and done elsewhere${more}`);
    fixture.upstream.respond((res) => void res.end('at once'));
    const last = await calls.call({ ...pass, ...newName() });
    expect([last.status, last.headers.get('access-pass-remaining')]).toEqual([200, '0']);
  });

  test.each([
    ['credit', 'a short response', ''],
    ['credit', 'a long one', 'x'.repeat(MOST_IN_GROUP)],
    ['a pass', 'a short response', ''],
    ['a pass', 'a long one', 'x'.repeat(MOST_IN_GROUP)],
  ])('that %s pays, with %s, keeps its name while its books are away, and is charged once', async (payer, _, more) => {
    const pass = payer === 'a pass' ? await showPass(2) : {};
    if (payer === 'credit') await calls.leaveCredit();
    const name = { ...pass, ...newName() };
    const rename = (from: string, to: string) =>
      fixture.storage.database.query({ name: `test_rename_${from}`, text: `alter table ${from} rename to ${to}` });
    await rename('tollhouse_call', 'tollhouse_away');
    let asked = 0;
    fixture.upstream.respond((res) => {
      asked += 1;
      res.end(`done${more}`);
    });
    const first = calls.call(name);
    // A fault alone may be of the call before, which is written behind its response.
    await until(() => asked > 0 && faults > 0);
    const again = await calls.call(name);
    expect([again.status, again.body['code']]).toEqual([409, 'idempotency_in_progress']);
    await rename('tollhouse_away', 'tollhouse_call');
    expect((await first).text).toBe(`done${more}`);
    await until(async () => (await calls.call(name)).status === 200);
    const replay = await calls.call(name);
    expect([replay.text, replay.headers.get('idempotency-replayed')]).toEqual([`done${more}`, 'true']);
    expect((await calls.call({ ...pass, ...newName() })).status).toBe(402);
  });
});
