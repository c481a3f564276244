import { Keypair } from '@solana/web3.js';
import { readConfiguration } from '../../../src/server/configuration/configuration.js';
import { type RunningServer, startServer } from '../../../src/server/start-server.js';
import {
  CALL_PRICE,
  connectGateway,
  type GatewayClient,
  type MadeKey,
  type MadeProject,
} from '../../helpers/fixtures/gateway-client.js';
import { payingFetch } from '../../helpers/http/official-clients.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import { type Receiver, startReceiver } from '../../helpers/http/webhook-receiver.js';
import { DAILY_DATABASES } from '../../helpers/storage/both-databases.js';
import { until } from '../../helpers/until.js';

/** Some fourteen payments of 10,001 lamports; a fifth is two, three fifths are eight. */
const LIMIT = 150_000;
const TRIES = 8;
const NEARLY_NOTHING = '0.000001';

describe.each(DAILY_DATABASES)('network fees of an hour, on %s', (_name, openDatabase) => {
  let server: RunningServer;
  let client: GatewayClient;
  let upstream: Receiver;
  let stopDatabase: () => Promise<void>;
  const operator = Keypair.generate();

  beforeEach(async () => {
    const { url, stop } = await openDatabase();
    stopDatabase = stop;
    const limits = { MAX_FEE_LAMPORTS_PER_HOUR: String(LIMIT), RATE_LIMIT_SCALE: '1000' };
    const operators = { OPERATORS: operator.publicKey.toBase58() };
    server = await startServer(
      readConfiguration({ PORT: '0', DATABASE_URL: url, LOG_LEVEL: 'silent', ...limits, ...operators }),
    );
    client = await connectGateway(server.url);
    upstream = await startReceiver((res) => void res.end('paid for'));
  });
  afterEach(async () => {
    await server?.close();
    await upstream?.close();
    await stopDatabase?.();
  });

  async function party(usdc: string) {
    const wallet = await server.chain.sandbox!.createWallet({ usdc, usdt: '0', sol: '1' });
    const by = await client.signIn(wallet);
    return { wallet, by, key: await client.key(by) };
  }

  const shop = (by: ProofHeaders, slug: string, amount: string) =>
    client.project(by, {
      slug,
      upstream: { url: upstream.origin },
      pricing: { amount, token: 'USDC', network: 'solana-devnet' },
    });

  /** Calls through x402, with the official client. */
  async function call(project: MadeProject, { wallet, key }: { wallet: Keypair; key: MadeKey }): Promise<number> {
    const pay = await payingFetch({ wallet, rpcUrl: server.chain.sandbox!.rpcUrl });
    const answer = await pay(`${server.url}/v1/${project.slug}`, { headers: key.headers });
    await answer.arrayBuffer();
    return answer.status;
  }

  test('two wallets that trade with each other for next to nothing use their shares, and honest buyers are served', async () => {
    const [mallory, trudy] = [await party('10'), await party('10')];
    const bait = await shop(mallory.by, 'bait', NEARLY_NOTHING);
    const other = await shop(trudy.by, 'other-bait', NEARLY_NOTHING);
    const [seller, buyer] = [await party('0'), await party('10')];
    const honest = await shop(seller.by, 'honest', '0.012347');

    let paid = 0;
    for (let n = 0; n < TRIES; n += 1) {
      for (const [project, by] of [
        [bait, trudy],
        [other, mallory],
        [bait, mallory],
      ] as const) {
        const status = await call(project, by).catch(() => 0);
        if (status === 200) paid += 1;
        const tried = client.pay({ project, payer: by.wallet, key: by.key, amount: NEARLY_NOTHING });
        if ((await tried.catch(() => undefined)) !== undefined) paid += 1;
      }
    }
    expect(paid).toBeGreaterThan(0);
    expect(paid).toBeLessThanOrEqual(4);

    expect((await client.ask('GET', '/readyz')).status).toBe(200);
    expect(await call(honest, buyer)).toBe(200);
    const { header } = await client.pay({ project: honest, payer: buyer.wallet, key: buyer.key });
    const shown = await client.call(honest.slug, { headers: { ...buyer.key.headers, ...header } });
    expect([shown.status, shown.text]).toEqual([200, 'paid for']);
    // It is written when the response has left.
    const spent = async () => (await client.ask('GET', '/api/v1/spending', undefined, buyer.by)).body;
    await until(async () => JSON.stringify(await spent()).includes('"calls":2'));
    expect(await spent()).toMatchObject({ totals: [{ amount_atomic: String(2n * CALL_PRICE), calls: 2 }] });
  });

  test('a seller to whom an operator gives a larger share sells on at once, and one with a smaller share sells less', async () => {
    const [seller, small] = [await party('0'), await party('0')];
    const [shopOfSeller, shopOfSmall] = [
      await shop(seller.by, 'sold-out', '0.012348'),
      await shop(small.by, 'small', '0.012349'),
    ];
    const buyAll = async (project: MadeProject, wanted: number) => {
      const statuses: number[] = [];
      // Each from another wallet: none uses up a share of its own.
      for (let n = 0; n < wanted; n += 1) statuses.push(await call(project, await party('10')));
      return statuses;
    };
    const setShare = async ({ wallet }: { wallet: Keypair }, fee_percent: number | null) => {
      const path = `/api/v1/operator/owners/${wallet.publicKey.toBase58()}`;
      return client.ask('PATCH', path, { quotas: { fee_percent } }, await client.signIn(operator));
    };

    await setShare(small, 1);
    expect(await buyAll(shopOfSmall, 2)).toEqual([200, 503]);
    expect(await buyAll(shopOfSeller, 3)).toEqual([200, 200, 503]);
    expect((await setShare(seller, 40)).body).toMatchObject({ quotas: { fee_percent: 40, projects: 20 } });
    // The word of an operator is remembered for ten seconds.
    const patient = await party('10');
    await until(async () => (await call(shopOfSeller, patient)) === 200);
    expect(await buyAll(shopOfSeller, 2)).toEqual([200, 200]);
    expect((await setShare(seller, 101)).status).toBe(422);
    expect((await setShare(seller, null)).body).toMatchObject({ quotas: { fee_percent: 20 } });
  });
});
