import type { ServerResponse } from 'node:http';
import { type CallsOnCredit, newName, openCallsOnCredit } from '../../helpers/fixtures/calls-on-credit.js';
import { useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { DAILY_DATABASES } from '../../helpers/storage/both-databases.js';
import { until } from '../../helpers/until.js';

const EVENTS = { 'content-type': 'text/event-stream' };

describe.each(DAILY_DATABASES)('a named call whose response cannot be kept, on %s', (...database) => {
  const fixture = useGatewayFixture(database, { limitScale: 100 });
  let calls: CallsOnCredit;
  let name = newName();

  beforeEach(async () => {
    name = newName();
    calls = await openCallsOnCredit(fixture(), (res) => void res.end('whole'));
    await calls.leaveCredit(2);
  });

  /** Has the upstream answer a named call so, and its caller leave when that is begun, or has left something. */
  async function leave(answer: (res: ServerResponse) => void, when: 'asked' | 'read'): Promise<ServerResponse> {
    const begun: ServerResponse[] = [];
    const read: unknown[] = [];
    fixture().upstream.respond((res) => {
      begun.push(res);
      if (when === 'read') answer(res);
    });
    const asked = calls.begin(name);
    asked.on('response', (response) => void response.on('error', () => undefined).on('data', (it) => read.push(it)));
    await until(() => begun.length > 0 && (when === 'asked' || read.length > 0));
    asked.destroy();
    // Whatever is sent after it finds that the line is down.
    for (let n = 0; n < 3; n += 1) await fixture().client.ask('GET', '/supported');
    if (when === 'asked') answer(begun[0]!);
    return begun[0]!;
  }

  const events = (res: ServerResponse) => void res.writeHead(200, EVENTS).write('data: 1\n\n');
  const endless = (res: ServerResponse): void => {
    const more = (): void => {
      while (!res.destroyed && res.write(Buffer.alloc(16_384, 'x')));
    };
    res.on('drain', more).writeHead(200);
    more();
  };

  test.each([
    ['an event stream that he has read of', events, 'read'],
    ['an event stream that begins when he has left', events, 'asked'],
    [
      'an event stream whose head alone comes when he has left',
      (res: ServerResponse) => res.writeHead(200, EVENTS).flushHeaders(),
      'asked',
    ],
    ['a response without end that he has read of', endless, 'read'],
    ['a response without end that begins when he has left', endless, 'asked'],
  ] as const)('is charged to a caller who leaves %s, and its upstream is let go', async (_what, answer, when) => {
    const stream = await leave(answer, when);
    await until(() => stream.destroyed);
    await until(async () => (await calls.creditOf())[0] === '0.012347');
  });

  test('leaves its name to another try', async () => {
    await leave(events, 'read');
    await until(async () => (await calls.creditOf())[0] === '0.012347');
    fixture().upstream.respond((res) => void res.end('whole'));
    const again = await calls.call(name);
    expect([again.status, again.text, again.headers.get('idempotency-replayed')]).toEqual([200, 'whole', null]);
    expect(await calls.creditOf()).toEqual([]);
  });
});
