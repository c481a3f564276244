import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { payingFetch } from '../../helpers/http/official-clients.js';
import { DAILY_DATABASES } from '../../helpers/storage/both-databases.js';

/** Fourteen payments of 10,001 lamports: a fifth is two, three fifths are eight. */
const LIMIT = 150_000n;
const SELLERS = 5;

describe.each(DAILY_DATABASES)('five sellers who buy of themselves, on %s', (...database) => {
  const fixture = useGatewayFixture(database, { maxFeeLamportsPerHour: LIMIT });

  /** A wallet that sells what it pays next to nothing for, as often as it is let. */
  async function dealWithOneself(name: string): Promise<number[]> {
    const { client, newCaller, upstream, sandbox } = fixture();
    const { wallet, key } = await newCaller();
    const by = await client.signIn(wallet);
    const pricing = { amount: '0.000001', token: 'USDC', network: 'solana-devnet' };
    const { slug } = await client.project(by, { slug: name, upstream: { url: upstream.origin }, pricing });
    const statuses: number[] = [];
    for (let n = 0; n < 3; n += 1) {
      const buyer = await newCaller();
      const pay = await payingFetch({ wallet: buyer.wallet, rpcUrl: sandbox.rpcUrl });
      const answer = await pay(`${client.url}/v1/${slug}`, { headers: key.headers });
      await answer.arrayBuffer();
      statuses.push(answer.status);
    }
    return statuses;
  }

  test('use three fifths of the fees of an hour, and a route of the operator is paid after that', async () => {
    const { facilitator, feePayer, payTo, sandbox, serve, newCaller } = fixture();
    const url = await serve((app) => {
      app.get('/own', requirePayment({ facilitator, payTo, price: '$0.01' }), (_req, res) => void res.send('served'));
    });
    const before = sandbox.balance(feePayer.publicKey.toBase58());
    const statuses: number[][] = [];
    for (let n = 0; n < SELLERS; n += 1) statuses.push(await dealWithOneself(`bait-${n}`));

    expect(statuses).toEqual([...Array(4).fill([200, 200, 503]), [503, 503, 503]]);
    const lost = BigInt(before) - BigInt(sandbox.balance(feePayer.publicKey.toBase58()));
    expect(lost).toBeLessThanOrEqual((LIMIT * 3n) / 5n);
    for (let n = 0; n < 3; n += 1) {
      const pay = await payingFetch({ wallet: (await newCaller()).wallet, rpcUrl: sandbox.rpcUrl });
      const answer = await pay(`${url}/own`);
      expect([answer.status, await answer.text()]).toEqual([200, 'served']);
    }
  });
});
