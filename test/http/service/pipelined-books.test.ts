import type { Socket } from 'node:net';
import { createMetrics } from '../../../src/http/service/metrics.js';
import { sendProblem } from '../../../src/middleware/gate/respond.js';
import { createRateLimits } from '../../../src/middleware/rate-limit/rate-limit.js';
import { logRequests } from '../../../src/middleware/tracing/request-log.js';
import { createMemoryCounters } from '../../../src/storage/counters/memory-counters.js';
import { DAILY_EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { readFigures } from '../../helpers/http/figures.js';
import { openSocket, rawRequest } from '../../helpers/http/raw-http.js';
import { until } from '../../helpers/until.js';

const WAITING = 4;
/** So many lock an address out. */
const FAILURES = 10;

describe.each(DAILY_EXPRESSES)('a request behind another on a connection that is reset, %s', (_name, express) => {
  let fixture: TollFixture;
  let url: string;
  let lines: object[];
  let answered: string[];
  let metrics: ReturnType<typeof createMetrics>;

  beforeEach(async () => {
    [lines, answered] = [[], []];
    fixture = await openTollFixture();
    metrics = createMetrics(fixture.facilitator);
    await metrics.expose();
    const log = (fields: object) => void lines.push(fields);
    const limits = createRateLimits({ counters: createMemoryCounters() });
    url = await fixture.serve((app) => {
      app.use(logRequests({ info: log, error: log }), metrics.count);
      app.get('/silent', () => undefined);
      app.get('/guess', ...limits.requests, (_req, res) => {
        sendProblem(res, 'invalid_access_token', 'Wrong.');
        answered.push('guess');
      });
      app.get('/work', (_req, res) => {
        res.send('done');
        answered.push('work');
      });
    }, express);
  });
  afterEach(() => fixture.close());

  /** Sends so many requests behind one that is never answered, and hangs up when they are done. */
  async function hide(path: string, times: number, headers: readonly string[] = []): Promise<void> {
    const socket: Socket = openSocket(url);
    socket.write(rawRequest('GET /silent') + rawRequest(`GET ${path}`, headers).repeat(times));
    await until(() => answered.length === times);
    socket.resetAndDestroy();
  }

  test('is logged and counted, as one alone on its connection is', async () => {
    await (await fetch(`${url}/work`)).text();
    answered = [];
    await hide('/work', WAITING);
    await until(() => lines.length === WAITING + 2);
    const aborted = { path: '/work', aborted: true };
    expect(lines.filter((line) => 'aborted' in line)).toEqual(
      expect.arrayContaining(Array.from({ length: WAITING }, () => expect.objectContaining(aborted))),
    );
    expect(lines.filter((line) => !('aborted' in line))).toMatchObject([{ path: '/work', status: 200 }]);
    const figures = readFigures((await metrics.expose())!.text);
    const count = (status: string) => figures.value('tollhouse_http_requests_total', { route: '/work', status });
    expect([count('200'), count('aborted')]).toEqual([1, WAITING]);
  });

  test('counts towards the lock-out where what it shows is wrong', async () => {
    const guess = { authorization: 'Bearer x' };
    expect((await fetch(`${url}/guess`, { headers: guess })).status).toBe(401);
    answered = [];
    await hide('/guess', FAILURES - 1, ['Authorization: Bearer x']);
    expect((await fetch(`${url}/guess`, { headers: guess })).status).toBe(429);
  });
});
