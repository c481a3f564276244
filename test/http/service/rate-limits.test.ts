import { once } from 'node:events';
import type { Express, RequestHandler } from 'express';
import { TollhouseError } from '../../../src/errors/errors.js';
import { sendProblem } from '../../../src/middleware/gate/respond.js';
import { createRateLimits, type RateLimitOptions } from '../../../src/middleware/rate-limit/rate-limit.js';
import { createMemoryCounters } from '../../../src/storage/counters/memory-counters.js';
import { DAILY_EXPRESSES } from '../../helpers/fixtures/toll-fixture.js';
import { type AppServer, serveApp } from '../../helpers/http/app-server.js';

const ADDRESS = '203.0.113.9';

/** Returns what its path says, as our gates and routers would. */
const handler: RequestHandler = (req, res) => {
  if (req.path === '/402') return sendProblem(res, 'payment_required', 'Pay.');
  if (req.path === '/401') return sendProblem(res, 'unauthenticated', 'Sign in.');
  if (req.path === '/guess') return sendProblem(res, 'invalid_access_token', 'Wrong.');
  if (req.path === '/expired') return sendProblem(res, 'token_expired', 'Too late.');
  res.send('welcome');
};

/** Takes the warnings of this process. */
function collectWarnings() {
  const warnings: unknown[] = [];
  const spy = jest.spyOn(process, 'emitWarning').mockImplementation((...args) => void warnings.push(args));
  return { warnings, restore: () => spy.mockRestore() };
}

describe.each(DAILY_EXPRESSES)('limits per address, %s', (_name, express) => {
  let server: AppServer;
  let time: number;
  const now = () => time;

  async function serve(options: Partial<RateLimitOptions> = {}, configure: (app: Express) => void = () => undefined) {
    const limits = createRateLimits({ counters: createMemoryCounters({ now }), now, ...options });
    server = await serveApp((app) => {
      app.set('trust proxy', 1);
      configure(app);
      app.use('/open', ...limits.requests, handler);
      app.use('/gated', ...limits.challenges, handler);
      app.use('/sign-in', ...limits.signIns, handler);
    }, express);
  }
  beforeEach(() => {
    time = Date.now();
  });
  afterEach(() => server.close());

  async function ask(path: string, headers: Record<string, string> = {}): Promise<Response> {
    const answer = await fetch(server.url + path, { headers: { 'x-forwarded-for': ADDRESS, ...headers } });
    await answer.clone().arrayBuffer();
    return answer;
  }

  async function askTimes(times: number, path: string, headers?: Record<string, string>): Promise<number[]> {
    const statuses: number[] = [];
    for (let n = 0; n < times; n += 1) statuses.push((await ask(path, headers)).status);
    return statuses;
  }

  const all = (times: number, status: number): number[] => Array<number>(times).fill(status);
  const bearer = { authorization: 'Bearer x' };

  test('60 requests a minute, then 429 as a problem with Retry-After, until the minute is over', async () => {
    await serve();
    expect(await askTimes(60, '/open/')).toEqual(all(60, 200));
    const refused = await ask('/open/');
    expect(refused.status).toBe(429);
    expect(refused.headers.get('content-type')).toBe('application/problem+json');
    expect(refused.headers.get('ratelimit-policy')).toMatch(/^"requests"; q=60; w=60; pk=:[^:]+:$/);
    expect(refused.headers.get('ratelimit')).toMatch(/^"requests"; r=0; t=\d+$/);
    expect(refused.headers.get('x-ratelimit-limit')).toBeNull();
    const seconds = Number(refused.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
    expect(await refused.json()).toMatchObject({
      status: 429,
      code: 'rate_limited',
      retryable: true,
      request_id: refused.headers.get('x-request-id'),
    });
    time += 60_001;
    expect((await ask('/open/')).status).toBe(200);
  });

  test('an admitted request is told what is left', async () => {
    await serve();
    await ask('/open/');
    expect((await ask('/open/')).headers.get('ratelimit')).toMatch(/^"requests"; r=58; t=\d+$/);
  });

  test('another address has a limit of its own, and IPv6 neighbours share one', async () => {
    await serve({ scale: 1 / 60 });
    const from = async (address: string) => (await ask('/open/', { 'x-forwarded-for': address })).status;
    expect([await from('203.0.113.1'), await from('203.0.113.2'), await from('203.0.113.1')]).toEqual([200, 200, 429]);
    expect(await from('2001:db8:1:1::1')).toBe(200);
    expect(await from('2001:db8:1:ff:ffff::2')).toBe(429);
    expect(await from('2001:db8:1:100::1')).toBe(200);
    expect(await from('::ffff:203.0.113.2')).toBe(429);
  });

  test('120 challenges a minute; answers that are welcome do not count', async () => {
    await serve();
    expect(await askTimes(130, '/gated/')).toEqual(all(130, 200));
    expect(await askTimes(60, '/gated/402')).toEqual(all(60, 402));
    expect(await askTimes(60, '/gated/401')).toEqual(all(60, 401));
    expect((await ask('/gated/402')).status).toBe(429);
    expect((await ask('/gated/')).status).toBe(429);
    expect((await ask('/open/')).status).toBe(200);
  });

  test('every limit is multiplied by the scale', async () => {
    await serve({ scale: 0.1 });
    expect(await askTimes(7, '/open/')).toEqual([...all(6, 200), 429]);
    expect(await askTimes(13, '/gated/402')).toEqual([...all(12, 402), 429]);
  });

  test('ten failed authentications lock an address out: what fails from there is turned away, what is right is not', async () => {
    await serve();
    expect(await askTimes(10, '/open/guess', bearer)).toEqual(all(10, 401));
    const locked = await ask('/open/guess', bearer);
    expect(locked.status).toBe(429);
    expect(Number(locked.headers.get('retry-after'))).toBe(60);
    expect(await locked.json()).toMatchObject({ code: 'rate_limited', retryable: true });
    expect((await ask('/gated/guess', { 'sign-in-with-x': 'x' })).status).toBe(429);
    expect((await ask('/sign-in/guess')).status).toBe(429);
    const right = [ask('/open/', bearer), ask('/gated/', { 'sign-in-with-x': 'x' }), ask('/sign-in/'), ask('/open/')];
    expect((await Promise.all(right)).map(({ status }) => status)).toEqual(all(4, 200));
    expect((await ask('/open/guess', { ...bearer, 'x-forwarded-for': '203.0.113.10' })).status).toBe(401);
  });

  test('each further lock-out within a day is twice as long, an hour at most', async () => {
    await serve({ scale: 10 });
    const lengths: number[] = [];
    for (let round = 0; round < 8; round += 1) {
      await askTimes(100, '/open/guess', bearer);
      const seconds = Number((await ask('/open/guess', bearer)).headers.get('retry-after'));
      lengths.push(seconds);
      time += seconds * 1000 - 1;
      expect((await ask('/open/guess', bearer)).status).toBe(429);
      time += 60_001;
    }
    expect(lengths).toEqual([60, 120, 240, 480, 960, 1920, 3600, 3600]);
  });

  test('attempts that fail at the same moment lock once', async () => {
    await serve();
    const statuses = await Promise.all(
      Array.from({ length: 40 }, async () => (await ask('/open/guess', bearer)).status),
    );
    expect(statuses.filter((status) => status === 401).length).toBeGreaterThanOrEqual(10);
    expect((await ask('/open/guess', bearer)).headers.get('retry-after')).toBe('60');
  });

  test('an expired token and a request without credentials are no failures', async () => {
    await serve();
    expect(await askTimes(15, '/open/expired', bearer)).toEqual(all(15, 401));
    expect(await askTimes(15, '/open/401', bearer)).toEqual(all(15, 401));
    expect((await ask('/open/', bearer)).status).toBe(200);
  });

  test('while the counters are gone everything passes, and one warning tells', async () => {
    const gone = async () => {
      throw new TollhouseError('store_unavailable', 'the store is away');
    };
    const counters = { increment: gone, decrement: gone, reset: gone, put: gone, get: gone };
    const { warnings, restore } = collectWarnings();
    await serve({ counters, scale: 1 / 60 });
    expect(await askTimes(5, '/open/')).toEqual(all(5, 200));
    expect(await askTimes(5, '/gated/402')).toEqual(all(5, 402));
    expect(await askTimes(15, '/open/guess', bearer)).toEqual(all(15, 401));
    restore();
    expect(warnings).toEqual([[expect.stringContaining('the store is away'), { code: 'TOLLHOUSE_LIMITS_OPEN' }]]);
  });

  test.each([
    ['unset', false, ADDRESS, 1],
    ['permissive', true, ADDRESS, 1],
    ['set to the number of proxies', 1, ADDRESS, 0],
    ['unset, and there is no proxy', false, undefined, 0],
  ])('"trust proxy" is %s', async (_case, trust, address, expected) => {
    await serve({}, (app) => app.set('trust proxy', trust));
    const { warnings, restore } = collectWarnings();
    for (const path of ['/open/', '/gated/', '/open/']) {
      await (
        await fetch(server.url + path, { headers: address === undefined ? {} : { 'x-forwarded-for': address } })
      ).text();
    }
    restore();
    const warning = [expect.stringContaining('trust proxy'), { code: 'TOLLHOUSE_TRUST_PROXY' }];
    expect(warnings).toEqual(Array(expected).fill(warning));
  });

  test('a client that leaves before its answer came is counted all the same', async () => {
    let arrived = (): void => undefined;
    const reached = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const limits = createRateLimits({ counters: createMemoryCounters(), scale: 1 / 60 });
    let left: Promise<unknown> = Promise.resolve();
    server = await serveApp((app) => {
      app.use(...limits.requests, (_req, res) => {
        left = once(res, 'close');
        arrived();
      });
    }, express);
    const stop = new AbortController();
    const asked = fetch(server.url, { signal: stop.signal }).catch(() => undefined);
    await reached;
    stop.abort();
    await asked;
    await left;
    expect((await fetch(server.url)).status).toBe(429);
  });
});

test.each([
  [{}, /"counters" is missing/],
  [{ counters: createMemoryCounters(), scale: 0 }, /"scale" must be a number above 0/],
  [{ counters: createMemoryCounters(), scal: 2 }, /did you mean "scale"/],
])('wrong options are refused when the limits are made: %#', (options, message) => {
  expect(() => createRateLimits(options as RateLimitOptions)).toThrow(message);
});
