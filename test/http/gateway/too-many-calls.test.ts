import { readConfiguration } from '../../../src/server/configuration/configuration.js';
import { startServer } from '../../../src/server/start-server.js';
import { connectGateway } from '../../helpers/fixtures/gateway-client.js';
import { startReceiver } from '../../helpers/http/webhook-receiver.js';
import { signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

test('a paid call beyond MAX_PAYMENTS_IN_FLIGHT is told to come again, and is served with the same payment then', async () => {
  const settings = { PORT: '0', DATABASE_URL: 'memory:', MAX_PAYMENTS_IN_FLIGHT: '1', LOG_LEVEL: 'silent' };
  const server = await startServer(readConfiguration({ ...settings, RATE_LIMIT_SCALE: '1000' }));
  const sandbox = server.chain.sandbox!;
  const upstream = await startReceiver((res) => void res.end('paid for'));
  const inFlight = async (count: number) =>
    (await (await fetch(`${server.url}/metrics`)).text()).includes(
      `tollhouse_payments_in_flight{network="solana-devnet"} ${count}\n`,
    );
  try {
    const client = await connectGateway(server.url);
    const owner = await client.signIn(await sandbox.createWallet({ usdc: '0' }));
    const project = await client.project(owner, { slug: 'echo', upstream: { url: upstream.origin } });
    const calls: (() => Promise<{ status: number; text: string; retryAfter: string | null }>)[] = [];
    for (const usdc of ['10', '10']) {
      const payer = await sandbox.createWallet({ usdc });
      const { headers: key } = await client.key(await client.signIn(payer));
      const { v2 } = await signPayment({ sandbox, payer }, `${server.url}/v1/${project.slug}`, {
        init: { headers: key },
      });
      calls.push(async () => {
        const answer = await fetch(`${server.url}/v1/${project.slug}`, { headers: { ...key, ...v2 } });
        return { status: answer.status, text: await answer.text(), retryAfter: answer.headers.get('retry-after') };
      });
    }
    const [first, second] = calls;
    const lost = sandbox.faults.add({ kind: 'drop' });
    const waiting = first!();
    await until(() => inFlight(1));
    const { text, ...answer } = await second!();
    expect(answer).toEqual({ status: 503, retryAfter: '2' });
    expect(JSON.parse(text)).toMatchObject({ code: 'too_many_payments', retryable: true });
    expect(upstream.received).toHaveLength(0);

    // What was lost is sent once more.
    lost.remove();
    expect(await waiting).toMatchObject({ status: 200, text: 'paid for' });
    await until(() => inFlight(0));
    expect(await second!()).toMatchObject({ status: 200, text: 'paid for' });
  } finally {
    await server.close();
    await upstream.close();
  }
});
