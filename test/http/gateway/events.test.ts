import { createEventTail } from '../../../src/gateway/webhooks/event-tail.js';
import type { StreamTimes } from '../../../src/http/events/event-stream.js';
import { EVENTS_OPERATIONS, eventsParts } from '../../../src/http/events/operations.js';
import { createRoutes } from '../../../src/http/framework/routes.js';
import type { EventRecord } from '../../../src/storage/events/events.js';
import { createSqlEventLog } from '../../../src/storage/events/sql-event-log.js';
import type { SqlDatabase } from '../../../src/storage/sql/sql-database.js';
import { openSqlite } from '../../../src/storage/sql/sqlite/sqlite-database.js';
import { call, openApiFixture } from '../../helpers/fixtures/api-fixture.js';
import { EXPRESSES } from '../../helpers/fixtures/toll-fixture.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import { anEvent, BOB } from '../../helpers/http/webhook-samples.js';
import { walletKey } from '../../helpers/transactions/wallet-key.js';
import { until } from '../../helpers/until.js';

/** A reader of a stream. */
interface Reader {
  readonly status: number;
  readonly headers: Headers;
  /** All that arrived. */
  text(): string;
  /** The frames that are events. */
  events(): { id: string; event: string; data: Record<string, unknown> }[];
  /** Whether the server has ended it. */
  isOver(): boolean;
  leave(): void;
}

async function read(url: string, headers: ProofHeaders): Promise<Reader> {
  const leaving = new AbortController();
  const answer = await fetch(url, { headers, signal: leaving.signal });
  let text = '';
  let isOver = false;
  const pump = async () => {
    const decoder = new TextDecoder();
    for await (const chunk of answer.body ?? []) text += decoder.decode(chunk, { stream: true });
  };
  pump()
    .catch(() => {})
    .finally(() => {
      isOver = true;
    });
  const fieldOf = (frame: string, name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(frame)?.[1];
  return {
    status: answer.status,
    headers: answer.headers,
    text: () => text,
    events: () =>
      text
        .split('\n\n')
        .filter((frame) => fieldOf(frame, 'data') !== undefined)
        .map((frame) => ({
          id: fieldOf(frame, 'id') ?? '',
          event: fieldOf(frame, 'event') ?? '',
          data: JSON.parse(fieldOf(frame, 'data') ?? ''),
        })),
    isOver: () => isOver,
    leave: () => leaving.abort(),
  };
}

describe.each(EXPRESSES)('events over HTTP, %s', (_name, express) => {
  let api: ReturnType<typeof openApiFixture>;
  let database: SqlDatabase;
  let tail: ReturnType<typeof createEventTail>;
  let alice: ProofHeaders;
  let readers: Reader[];

  beforeEach(async () => {
    api = openApiFixture();
    readers = [];
    database = await openSqlite(':memory:');
    tail = createEventTail(createSqlEventLog(database));
    alice = await api.tokenOf(walletKey('alice'));
  });
  afterEach(async () => {
    for (const reader of readers) reader.leave();
    await tail.close();
    await api.close();
    await database.close();
  });

  async function serve(times: Partial<StreamTimes> = {}): Promise<string> {
    const log = createSqlEventLog(database);
    const { callerFor, callers } = api;
    const { router } = createRoutes(EVENTS_OPERATIONS, eventsParts({ log, tail, callers, times }), callerFor);
    return `${await api.serve(router, express)}/api/v1/events`;
  }

  async function tell(...events: readonly EventRecord[]): Promise<void> {
    await createSqlEventLog(database).append(events);
    tail.wake();
  }

  async function open(url: string, headers: ProofHeaders = alice): Promise<Reader> {
    const reader = await read(url, headers);
    readers.push(reader);
    if (reader.status === 200) await until(() => reader.text().includes(': connected\n\n'));
    return reader;
  }

  const idsOf = (reader: Reader) => reader.events().map(({ id }) => id);
  const ids = (events: readonly EventRecord[]) => events.map(({ id }) => id);

  test('are listed, the newest first, page by page, those of the caller only', async () => {
    const url = await serve();
    const events = [anEvent({ projectId: 'prj_1' }), anEvent(), anEvent({ type: 'call.failed' })];
    await tell(...events, anEvent({ owner: BOB }));
    const first = await call('GET', `${url}?limit=2`, alice);
    expect(first.headers.get('cache-control')).toBe('no-store');
    const second = await call('GET', `${url}?limit=2&cursor=${first.body.next_cursor}`, alice);
    const data = [...(first.body.data as object[]), ...(second.body.data as object[])];
    expect(data).toEqual(
      [...events].reverse().map(({ id, type, at, projectId, data: told }) => ({
        id,
        type,
        timestamp: new Date(at).toISOString(),
        project_id: projectId ?? null,
        mode: null,
        data: told,
      })),
    );
    expect([first.body.has_more, second.body.has_more, second.body.next_cursor]).toEqual([true, false, null]);
    const filtered = await call('GET', `${url}?types=call.failed,key.created`, alice);
    expect((filtered.body.data as { id: string }[]).map(({ id }) => id)).toEqual([events[2]!.id]);
  });

  test.each(['types=payment.stolen', 'limit=101', 'cursor=x', 'types='])('a list by %s is refused', async (query) => {
    expect(await call('GET', `${await serve()}?${query}`, alice)).toMatchObject({
      status: 422,
      body: { code: 'validation_failed' },
    });
  });

  test('a stream shows what happens from now on, with id, type and data', async () => {
    const url = await serve();
    await tell(anEvent());
    const reader = await open(`${url}/stream`);
    expect(reader.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(reader.headers.get('cache-control')).toBe('no-store');
    const event = anEvent({ projectId: 'prj_1', data: { text: 'two\nlines ü' } });
    await tell(event, anEvent({ owner: BOB }));
    await until(() => reader.events().length > 0);
    expect(reader.events()).toEqual([
      {
        id: event.id,
        event: 'payment.settled',
        data: {
          id: event.id,
          type: event.type,
          timestamp: new Date(event.at).toISOString(),
          project_id: 'prj_1',
          mode: null,
          data: event.data,
        },
      },
    ]);
  });

  test('a stream that was cut goes on after the last event that was seen, whatever happened meanwhile', async () => {
    const url = await serve();
    const reader = await open(`${url}/stream`);
    const events = Array.from({ length: 250 }, () => anEvent());
    await tell(...events.slice(0, 2));
    await until(() => reader.events().length === 2);
    reader.leave();
    await tell(...events.slice(2));

    const again = await open(`${url}/stream`, { ...alice, 'last-event-id': events[1]!.id });
    await until(() => again.events().length >= 248);
    expect(idsOf(again)).toEqual(ids(events.slice(2)));
    const byQuery = await open(`${url}/stream?last_event_id=${events[247]!.id}`);
    await until(() => byQuery.events().length >= 2);
    expect(idsOf(byQuery)).toEqual(ids(events.slice(248)));
  });

  test('a client that saw nothing yet is told where it stands', async () => {
    const url = await serve();
    const before = anEvent();
    await tell(before);
    const reader = await open(`${url}/stream`);
    expect(/^id: (\S+)$/m.exec(reader.text())?.[1]).toBe(before.id);
  });

  test('after an event that is forgotten, or of somebody else, it shows all that is kept', async () => {
    const url = await serve();
    const [own, foreign] = [anEvent(), anEvent({ owner: BOB })];
    await tell(own, foreign);
    const reader = await open(`${url}/stream`, { ...alice, 'last-event-id': foreign.id });
    await until(() => reader.events().length > 0);
    expect(idsOf(reader)).toEqual([own.id]);
  });

  test('a stream is filtered by type and project; a key of one project sees that only', async () => {
    const url = await serve();
    const [byType, byProject, ofKey] = [
      await open(`${url}/stream?types=key.created`),
      await open(`${url}/stream?project_id=prj_1`),
      await open(`${url}/stream`, api.keyWith(['events:read'], 'prj_2')),
    ];
    const events = [anEvent({ type: 'key.created' }), anEvent({ projectId: 'prj_1' }), anEvent({ projectId: 'prj_2' })];
    await tell(...events);
    await until(() => [byType, byProject, ofKey].every((it) => it.events().length > 0));
    expect([byType, byProject, ofKey].map(idsOf)).toEqual(events.map(({ id }) => [id]));
    const other = await call('GET', `${url}/stream?project_id=prj_1`, api.keyWith(['events:read'], 'prj_2'));
    expect(other).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await call('GET', `${url}?project_id=prj_1`, api.keyWith(['events:read'], 'prj_2'))).toMatchObject({
      status: 404,
    });
  });

  test('who may not read events gets neither list nor stream', async () => {
    const url = await serve();
    for (const path of ['', '/stream']) {
      expect(await call('GET', url + path)).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
      expect(await call('GET', url + path, api.keyWith(['call']))).toMatchObject({
        status: 403,
        body: { code: 'insufficient_scope' },
      });
      expect(await call('POST', url + path, alice)).toMatchObject({ status: 405 });
    }
  });

  test('in silence there are heartbeats', async () => {
    const reader = await open(`${await serve({ heartbeatMs: 20 })}/stream`);
    await until(() => reader.text().split(': still here').length > 3);
    expect(reader.isOver()).toBe(false);
  });

  test('a stream ends when the token runs out, and when the key is revoked', async () => {
    const url = await serve({ heartbeatMs: 20 });
    const key = api.keyWith(['events:read']);
    const [byToken, byKey] = [await open(`${url}/stream`), await open(`${url}/stream`, key)];
    api.revoke(key);
    await until(() => byKey.isOver());
    expect(byToken.isOver()).toBe(false);
    api.advance(15 * 60_000 + 60_000);
    await until(() => byToken.isOver());
  });

  test('a stream whose key was revoked tells nothing of what happens after that, and ends with it', async () => {
    const key = api.keyWith(['events:read']);
    const url = await serve();
    const [revoked, other] = [await open(`${url}/stream`, key), await open(`${url}/stream`)];
    api.revoke(key);
    await tell(anEvent());
    await until(() => revoked.isOver() && other.events().length === 1);
    expect(revoked.events()).toEqual([]);
  });

  test('a stream whose key may no longer read events tells nothing after that, and ends; one whose key lost something else goes on', async () => {
    const url = await serve({ heartbeatMs: 20 });
    const [reading, other] = [api.keyWith(['events:read', 'call']), api.keyWith(['events:read', 'call'])];
    const [stopped, goesOn] = [await open(`${url}/stream`, reading), await open(`${url}/stream`, other)];
    api.giveScopes(reading, ['call']);
    api.giveScopes(other, ['events:read']);
    await tell(anEvent());
    await until(() => stopped.isOver() && goesOn.events().length === 1);
    expect(stopped.events()).toEqual([]);
    expect(goesOn.isOver()).toBe(false);
  });

  test('a stream ends when its time is over, and when the server stops', async () => {
    const short = await open(`${await serve({ lifetimeMs: 30 })}/stream`);
    await until(() => short.isOver());
    const long = await open(`${await serve()}/stream`);
    await tail.close();
    await until(() => long.isOver());
    expect(await call('GET', `${await serve()}/stream`, alice)).toMatchObject({
      status: 503,
      body: { code: 'stopping' },
    });
  });

  test('a wallet has ten streams at most, until one is left', async () => {
    const url = await serve({ heartbeatMs: 20 });
    for (let at = 0; at < 10; at += 1) await open(`${url}/stream`);
    const refused = await call('GET', `${url}/stream`, alice);
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect(refused.headers.get('retry-after')).toBe('10');
    readers.pop()?.leave();
    await until(async () => {
      const reader = await read(`${url}/stream`, alice);
      readers.push(reader);
      return reader.status === 200;
    });
  });

  test('who does not read is cut off, and nothing is piled up for them', async () => {
    const url = await serve({ patienceMs: 50 });
    const log = createSqlEventLog(database);
    const first = anEvent();
    const large = { text: 'x'.repeat(100_000) };
    await log.append([first, ...Array.from({ length: 200 }, () => anEvent({ data: large }))]);
    const answer = await fetch(`${url}/stream`, { headers: { ...alice, 'last-event-id': first.id } });
    await new Promise((resolve) => setTimeout(resolve, 500));
    await expect(answer.text()).rejects.toThrow();
  });

  test('many streams of an owner get the same, in the same order', async () => {
    const url = await serve();
    const some = await Promise.all([1, 2, 3, 4].map(() => open(`${url}/stream`)));
    const events = Array.from({ length: 120 }, () => anEvent());
    for (let at = 0; at < events.length; at += 10) await tell(...events.slice(at, at + 10));
    await until(() => some.every((it) => it.events().length >= 120));
    for (const reader of some) expect(idsOf(reader)).toEqual(ids(events));
  });
});
