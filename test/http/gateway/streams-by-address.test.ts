import { createEventTail } from '../../../src/gateway/webhooks/event-tail.js';
import { EVENTS_OPERATIONS, eventsParts } from '../../../src/http/events/operations.js';
import { createRoutes } from '../../../src/http/framework/routes.js';
import { createSqlEventLog } from '../../../src/storage/events/sql-event-log.js';
import { openSqlite } from '../../../src/storage/sql/sqlite/sqlite-database.js';
import { call, openApiFixture } from '../../helpers/fixtures/api-fixture.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import { walletKey } from '../../helpers/transactions/wallet-key.js';

const OF_WALLET = 10;
/** Half of the nine tenths of a thousand that are not for newcomers. */
const SHARE = 450;

test('wallets that hold streams from one address have its share of them, and others find room', async () => {
  const api = openApiFixture();
  const database = await openSqlite(':memory:');
  const log = createSqlEventLog(database);
  const tail = createEventTail(log);
  const { router } = createRoutes(EVENTS_OPERATIONS, eventsParts({ log, tail, callers: api.callers }), api.callerFor);
  const url = await api.serve((req, res, next) => {
    req.app.set('trust proxy', 1);
    void router(req, res, next);
  });
  const stream = `${url}/api/v1/events/stream`;
  const from = async (address: string, wallet: string): Promise<ProofHeaders> => ({
    ...(await api.tokenOf(walletKey(wallet))),
    'x-forwarded-for': address,
  });
  const leaving = new AbortController();
  // A response that nobody holds is collected, and its stream closed with it.
  const held: Response[] = [];
  const open = async (headers: ProofHeaders) => {
    const response = await fetch(stream, { headers, signal: leaving.signal });
    held.push(response);
    return response.status;
  };

  for (let n = 0; n < SHARE / OF_WALLET; n += 1) {
    const headers = await from('192.0.2.1', `wallet ${n}`);
    const opened = await Promise.all(Array.from({ length: OF_WALLET }, () => open(headers)));
    expect(opened).toEqual(Array(OF_WALLET).fill(200));
  }
  const refused = await call('GET', stream, await from('192.0.2.1', 'another'));
  expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
  expect(refused.body['detail']).toMatch(/open from this address or its network/);
  expect(refused.headers.get('retry-after')).toBe('10');
  expect(await open(await from('198.51.100.1', 'another'))).toBe(200);

  expect(held).toHaveLength(SHARE + 1);
  leaving.abort();
  await tail.close();
  await api.close();
  await database.close();
});
