import type { RequestHandler } from 'express';
import { createRateLimits } from '../../../src/middleware/rate-limit/rate-limit.js';
import { serviceKeyAuth } from '../../../src/middleware/service-key/service-key-auth.js';
import { createMemoryCounters } from '../../../src/storage/counters/memory-counters.js';
import { type KeysFixture, keyHeaders, openKeysFixture } from '../../helpers/fixtures/keys-fixture.js';
import { DAILY_EXPRESSES } from '../../helpers/fixtures/toll-fixture.js';
import { type AppServer, serveApp } from '../../helpers/http/app-server.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import { walletKey } from '../../helpers/transactions/wallet-key.js';

const ALLOWED = '203.0.113.9';
const OTHER = '198.51.100.1';
/** Names under which one or the other proxy tells whose request it is. */
const FORGED = [
  'X-Forwarded-For',
  'Forwarded',
  'X-Real-IP',
  'X-Client-IP',
  'X-Cluster-Client-IP',
  'CF-Connecting-IP',
  'True-Client-IP',
  'Fastly-Client-IP',
  'X-Originating-IP',
  'X-Remote-Addr',
];
const LIMIT = 3;

describe.each(DAILY_EXPRESSES)('whose address counts, %s', (_name, express) => {
  let keys: KeysFixture;
  let server: AppServer;
  let key: ProofHeaders;

  beforeEach(async () => {
    keys = await openKeysFixture(':memory:');
    const allowedIps = [`${ALLOWED}/32`, '2001:db8:1::/48'];
    key = keyHeaders(await keys.make(walletKey('alice').address, { allowedIps, perSecond: 100 }));
  });
  afterEach(async () => {
    await server.close();
    await keys.close();
  });

  async function serve(trust: boolean | number | string): Promise<void> {
    const { requests } = createRateLimits({ counters: createMemoryCounters(), scale: LIMIT / 60 });
    const answer: RequestHandler = (_req, res) => void res.send('welcome');
    server = await serveApp((app) => {
      app.set('trust proxy', trust);
      app.get('/open', requests, answer);
      app.get('/call', serviceKeyAuth({ gateway: { keys: keys.keys } }), answer);
    }, express);
  }

  const ask = async (path: string, headers: ProofHeaders): Promise<readonly [number, string]> => {
    const answer = await fetch(server.url + path, { headers });
    return [answer.status, await answer.text()];
  };
  const statusOf = async (path: string, headers: ProofHeaders) => (await ask(path, headers))[0];
  const forwarded = (list: string): ProofHeaders => ({ 'x-forwarded-for': list });
  const forgery = (name: string, address: string): ProofHeaders => ({
    [name]: name === 'Forwarded' ? `for=${address}` : address,
  });
  const quietly = () => jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);

  describe('without a proxy', () => {
    beforeEach(() => serve(false));

    test('no header moves a limit', async () => {
      const warnings = quietly();
      const statuses: number[] = [];
      for (const [index, name] of FORGED.entries()) {
        statuses.push(await statusOf('/open', forgery(name, `203.0.113.${index}`)));
      }
      warnings.mockRestore();

      expect(statuses).toEqual(statuses.map((_, index) => (index < LIMIT ? 200 : 429)));
    });

    test.each(FORGED)('%s does not make an address that a key may be used from', async (name) => {
      const [status, body] = await ask('/call', { ...key, ...forgery(name, ALLOWED) });
      expect([status, JSON.parse(body)]).toMatchObject([403, { code: 'address_not_allowed' }]);
      expect(body).toContain('127.0.0.1');
    });
  });

  describe.each<[string, number | string]>([
    ['counted', 1],
    ['named by its address', 'loopback'],
  ])('behind one proxy, %s', (_how, trust) => {
    beforeEach(() => serve(trust));

    test('what the proxy has added counts for the limit, whatever its client wrote before that', async () => {
      const statuses: number[] = [];
      for (let n = 0; n < 2 * LIMIT; n += 1)
        statuses.push(await statusOf('/open', forwarded(`203.0.113.${n}, ${OTHER}`)));

      expect(statuses).toEqual(statuses.map((_, index) => (index < LIMIT ? 200 : 429)));
      expect(await statusOf('/open', forwarded(`${OTHER}, ${ALLOWED}`))).toBe(200);
    });

    test.each([
      [ALLOWED, 200],
      [`${OTHER}, ${ALLOWED}`, 200],
      [`${ALLOWED}, ${OTHER}`, 403],
      [`::ffff:${ALLOWED}`, 200],
      ['2001:db8:1::5', 200],
      ['2001:DB8:1:0:0:0:0:5', 200],
      ['2001:db8:2::5', 403],
      [`${ALLOWED}%eth0`, 403],
      [`${ALLOWED}:443`, 200],
      [`${OTHER}:443`, 403],
      ['[2001:db8:1::5]:443', 200],
      ['0313.0.0161.011', 403],
      ['3405803785', 403],
      [`${ALLOWED}, unknown`, 403],
    ])('and for keys: %s is answered %d', async (list, status) => {
      expect(await statusOf('/call', { ...key, ...forwarded(list) })).toBe(status);
    });

    test('other headers count for nothing', async () => {
      for (const name of FORGED.slice(1)) {
        expect(await statusOf('/call', { ...key, ...forwarded(OTHER), ...forgery(name, ALLOWED) })).toBe(403);
      }
    });

    test('all addresses of an IPv6 network of 64 bits are one client, and one next door is another', async () => {
      const statuses: number[] = [];
      for (let n = 0; n < 2 * LIMIT; n += 1)
        statuses.push(await statusOf('/open', forwarded(`2001:db8:5:1:${n}::${n}`)));

      expect(statuses).toEqual(statuses.map((_, index) => (index < LIMIT ? 200 : 429)));
      expect(await statusOf('/open', forwarded('2001:db8:6:1::1'))).toBe(200);
    });

    test('so are they for guesses at a secret: the network is locked out, what is right is looked at', async () => {
      const guesses = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          statusOf('/call', { ...key, 'x-service-secret': 'x', ...forwarded(`2001:db8:5:1::${n}`) }),
        ),
      );
      expect(new Set(guesses)).toContain(401);
      const another = forwarded('2001:db8:5:1:ffff::1');
      expect(await statusOf('/call', { ...key, 'x-service-secret': 'x', ...another })).toBe(429);
      expect(await statusOf('/call', { ...key, ...another })).toBe(403);
      expect(await statusOf('/call', { ...key, ...forwarded('2001:db8:1::5') })).toBe(200);
    });
  });
});
