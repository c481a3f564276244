import { readConfiguration } from '../../../src/server/configuration/configuration.js';
import { startServer } from '../../../src/server/start-server.js';
import { CALL_PRICE, connectGateway } from '../../helpers/fixtures/gateway-client.js';
import { startReceiver } from '../../helpers/http/webhook-receiver.js';
import { openTcpRelay } from '../../helpers/nodes/tcp-relay.js';
import { ownPostgres } from '../../helpers/storage/postgres.js';
import { until } from '../../helpers/until.js';

test('a call that was delivered while the database was away is booked when it is back, and its payer has the same response again', async () => {
  const postgres = await ownPostgres();
  const relay = await openTcpRelay(await postgres.newDatabase());
  const settings = { PORT: '0', DATABASE_URL: relay.url, RATE_LIMIT_SCALE: '1000', LOG_LEVEL: 'silent' };
  const server = await startServer(readConfiguration(settings));
  const sandbox = server.chain.sandbox!;
  let goesAway = true;
  const upstream = await startReceiver((res) => {
    if (goesAway) {
      relay.swallows = true;
      relay.cut();
    }
    goesAway = false;
    res.end('paid for');
  });
  try {
    const client = await connectGateway(server.url);
    const [owner, caller] = [await sandbox.createWallet({ usdc: '0' }), await sandbox.createWallet({ usdc: '10' })];
    const asOwner = await client.signIn(owner);
    const project = await client.project(asOwner, { slug: 'echo', upstream: { url: upstream.origin } });
    const key = await client.key(await client.signIn(caller));
    const { header } = await client.pay({ project, payer: caller, key });

    const init = { headers: { ...key.headers, ...header } };
    const answer = await client.call('echo', init);
    expect([answer.status, answer.text]).toEqual([200, 'paid for']);
    relay.swallows = false;
    relay.cut();

    const spending = async () => (await client.ask('GET', '/api/v1/spending', undefined, key.headers)).body;
    await until(async () => JSON.stringify(await spending()).includes('"calls":1'));
    expect(await spending()).toMatchObject({ totals: [{ amount_atomic: String(CALL_PRICE), calls: 1 }] });
    const again = await client.call('echo', init);
    expect([again.status, again.text]).toEqual([200, 'paid for']);
    expect(upstream.received).toHaveLength(1);
  } finally {
    await server.close();
    await upstream.close();
    await relay.close();
    await postgres.stop();
  }
});
