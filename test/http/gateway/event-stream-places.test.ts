import { once } from 'node:events';
import type { Socket } from 'node:net';
import { createEventTail } from '../../../src/gateway/webhooks/event-tail.js';
import type { StreamTimes } from '../../../src/http/events/event-stream.js';
import { EVENTS_OPERATIONS, eventsParts } from '../../../src/http/events/operations.js';
import { createRoutes } from '../../../src/http/framework/routes.js';
import { createSqlEventLog } from '../../../src/storage/events/sql-event-log.js';
import type { SqlDatabase } from '../../../src/storage/sql/sql-database.js';
import { openSqlite } from '../../../src/storage/sql/sqlite/sqlite-database.js';
import { openApiFixture } from '../../helpers/fixtures/api-fixture.js';
import { DAILY_EXPRESSES } from '../../helpers/fixtures/toll-fixture.js';
import { linesOf, openSocket, rawRequest } from '../../helpers/http/raw-http.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import { anEvent } from '../../helpers/http/webhook-samples.js';
import { walletKey } from '../../helpers/transactions/wallet-key.js';
import { until } from '../../helpers/until.js';

/** So many streams one wallet has. */
const PLACES = 10;

describe.each(DAILY_EXPRESSES)('the place of an event stream, %s', (_name, express) => {
  let api: ReturnType<typeof openApiFixture>;
  let database: SqlDatabase;
  let tail: ReturnType<typeof createEventTail>;
  let alice: ProofHeaders;
  let sockets: Socket[];
  let path: string;
  let following: number;
  /** What each reader waits for before its stream begins. */
  let mayFollow: Promise<void>;

  beforeEach(async () => {
    [api, sockets, following, mayFollow] = [openApiFixture(), [], 0, Promise.resolve()];
    database = await openSqlite(':memory:');
    tail = createEventTail(createSqlEventLog(database));
    alice = await api.tokenOf(walletKey('alice'));
  });
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    await tail.close();
    await api.close();
    await database.close();
  });

  async function serve(times: Partial<StreamTimes> = {}): Promise<void> {
    const { callerFor, callers } = api;
    const watched: typeof tail = {
      ...tail,
      async follow(...args) {
        following += 1;
        await mayFollow;
        return tail.follow(...args);
      },
    };
    const parts = eventsParts({ log: createSqlEventLog(database), tail: watched, callers, times });
    path = `${await api.serve(createRoutes(EVENTS_OPERATIONS, parts, callerFor).router, express)}/api/v1/events/stream`;
  }

  /** Asks for streams on one connection. */
  function send(streams: number, lines: readonly string[] = []): Socket {
    const socket = openSocket(path);
    sockets.push(socket);
    socket.write(rawRequest(`GET ${new URL(path).pathname}`, [...linesOf({ ...alice }), ...lines]).repeat(streams));
    return socket;
  }

  /** The same, and waits until the first has begun and all are under way. */
  async function open(streams: number, lines: readonly string[] = []): Promise<Socket> {
    const socket = send(streams, lines);
    await once(socket, 'data');
    await until(() => following >= PLACES);
    return socket;
  }

  /** How many more streams there is a place for. */
  async function free(): Promise<number> {
    const leaving = new AbortController();
    const init = { headers: { ...alice }, signal: leaving.signal };
    const answers = await Promise.all(Array.from({ length: PLACES }, () => fetch(path, init)));
    leaving.abort();
    return answers.filter(({ status }) => status === 200).length;
  }

  const hangUp = async (socket: Socket) => {
    socket.resetAndDestroy();
    await once(socket, 'close');
  };

  test.each([
    ['one on each of ten connections', PLACES, 1],
    ['ten on one connection, where nine wait for the first', 1, PLACES],
  ])('is free again when its reader hangs up: %s', async (_what, connections, each) => {
    await serve();
    const opened = await Promise.all(Array.from({ length: connections }, () => open(each)));
    expect(await free()).toBe(0);
    for (const socket of opened) await hangUp(socket);
    await until(async () => (await free()) === PLACES);
  });

  test('is free again when its reader has hung up before the stream begins', async () => {
    let begin: () => void = () => {};
    mayFollow = new Promise((resolve) => {
      begin = resolve;
    });
    await serve();
    for (let n = 0; n < PLACES; n += 1) {
      const socket = send(1);
      await until(() => following === n + 1);
      await hangUp(socket);
    }
    expect(await free()).toBe(0);
    begin();
    await until(async () => (await free()) === PLACES);
  });

  test('is free again when the stream waits too long for another one on its connection, which goes on', async () => {
    await serve({ patienceMs: 50 });
    const first = anEvent();
    // More than Node 22 and later hold for a reader, which is four times what Node 20 does.
    const large = { text: 'x'.repeat(100_000) };
    await createSqlEventLog(database).append([first, anEvent({ data: large }), anEvent({ data: large })]);
    const socket = await open(PLACES, [`Last-Event-ID: ${first.id}`]);
    socket.resume();
    await until(async () => (await free()) === PLACES - 1);
    expect(socket.closed).toBe(false);
  });
});
