import { decodePaymentSignatureHeader, encodePaymentSignatureHeader } from '@x402/core/http';
import bs58 from 'bs58';
import { newNonce } from '../../src/protocol/codecs/nonce-header.js';
import { readConfiguration } from '../../src/server/configuration/configuration.js';
import { type RunningServer, startServer } from '../../src/server/start-server.js';
import { openStorage } from '../../src/storage/open-storage.js';
import { mistold, readBooks } from '../helpers/crash/books.js';
import { type CrashFixture, openCrashFixture, PRICE } from '../helpers/crash/crash-fixture.js';
import { type Bought, overcharged } from '../helpers/crash/crash-load.js';
import { insist, type Order, orderAtGate, send } from '../helpers/crash/orders.js';
import { type OwnPostgres, ownPostgres } from '../helpers/storage/postgres.js';
import { walletKey } from '../helpers/transactions/wallet-key.js';
import { until } from '../helpers/until.js';

const CLIENTS = 6;
const ENOUGH = 20;

/** The server with its Postgres, which crashes while payments are being made and is started again. */
describe('when Postgres is lost in the middle of it', () => {
  let fixture: CrashFixture;
  let postgres: OwnPostgres;
  let url: string;
  let server: RunningServer;

  beforeAll(async () => {
    [fixture, postgres] = await Promise.all([openCrashFixture(), ownPostgres()]);
    url = await postgres.newDatabase();
    const env = {
      PORT: '0',
      BASE_URL: 'http://localhost',
      LOG_LEVEL: 'silent',
      RATE_LIMIT_SCALE: '10000',
      JWT_SECRET: 'a secret that is long enough for HS256',
      DATABASE_URL: url,
      SOLANA_NETWORK: 'solana-devnet',
      SOLANA_RPC_URL: fixture.sandbox.rpcUrl,
      FACILITATOR_KEYPAIR: bs58.encode(fixture.feePayer.secretKey),
      PAY_TO: fixture.payTo,
    };
    server = await startServer(readConfiguration(env));
  });
  afterAll(async () => {
    await server.close();
    await fixture.close();
    await postgres.stop();
  });

  const readiness = async () => {
    const answer = await fetch(`${server.url}/readyz`);
    return { status: answer.status, body: (await answer.json()) as { checks: object; detail?: string } };
  };

  const post = async (path: string, sent: object) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${server.url}${path}`, { method: 'POST', headers, body: JSON.stringify(sent) });
    return { status: answer.status, body: (await answer.json()) as { nonce?: string; message?: string } };
  };

  // What a wallet signs may be had without the database: it is used up there, when it is shown.
  const signIn = async (): Promise<number> => {
    const { address, sign } = walletKey('alice');
    const challenge = await post('/api/v1/auth/challenge', { wallet: address });
    if (challenge.status !== 200) return challenge.status;
    const { nonce, message = '' } = challenge.body;
    return (await post('/api/v1/auth/token', { wallet: address, nonce, signature: sign(message) })).status;
  };

  test('no payment is lost, nobody pays for nothing, and the service comes back by itself', async () => {
    const load = await openLoad();
    await until(() => load.bought.length >= ENOUGH);
    await postgres.crash();

    // What was found a moment before is believed for some seconds.
    await until(async () => JSON.stringify(await readiness()).includes('the store of payments does not answer'));
    const { status, body } = await readiness();
    expect(status).toBe(503);
    expect(body).toMatchObject({ checks: { rpc: 'ok', fee_payer: 'ok', store: 'unreachable' } });
    expect(body.detail).toContain('the store of payments does not answer');
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    expect(await signIn()).toBe(503);
    const turnedAway = await Promise.all(Array.from({ length: CLIENTS }, newBuyer));
    const replies = await Promise.all(turnedAway.map((order) => send(server.url, order)));
    expect(replies.map(({ status }) => status)).toEqual(turnedAway.map(() => 503));
    expect(turnedAway.map(({ wallet }) => fixture.held(wallet.publicKey.toBase58()))).toEqual(
      turnedAway.map(() => 1_000_000_000n),
    );

    await postgres.restart();
    await until(async () => (await readiness()).status === 200);
    expect(await signIn()).toBe(200);
    const later = await Promise.all(
      turnedAway.map(async (order) => ({ order, replies: await insist(() => server.url, order) })),
    );
    const bought = [...(await load.end()), ...later];
    expect(bought.filter(({ replies: all }) => all.at(-1)?.served !== true)).toEqual([]);
    for (const { status } of bought.flatMap(({ replies: all }) => all)) expect([200, 409, 503]).toContain(status);
    expect(overcharged(fixture, bought)).toEqual([]);
    expect(fixture.held(fixture.payTo)).toBe(PRICE * BigInt(bought.length));
    await expectBooks(bought);
  });

  const newBuyer = async () => orderAtGate(fixture, await fixture.sandbox.createWallet({ usdc: '1000' }), '/demo');

  /** Clients who buy one thing after the other until they are told to stop. */
  async function openLoad() {
    const bought: Bought[] = [];
    let ends = false;
    const clients = Array.from({ length: CLIENTS }, async () => {
      const wallet = await fixture.sandbox.createWallet({ usdc: '1000' });
      while (!ends) {
        const order = await orderAtGate(fixture, wallet, '/demo');
        bought.push({ order, replies: await insist(() => server.url, order) });
      }
    });
    return {
      bought,
      async end(): Promise<readonly Bought[]> {
        ends = true;
        await Promise.all(clients);
        return bought;
      },
    };
  }

  /** Each payment is in the books with its event; its response can be had again, by nobody but the one who paid. */
  async function expectBooks(bought: readonly Bought[]): Promise<void> {
    // One whose end could not be written down is held until it is.
    const again = await Promise.all(bought.map(async ({ order }) => (await insist(() => server.url, order)).at(-1)));
    expect(again).toEqual(bought.map(() => ({ status: 200, served: true, replayed: true })));
    const thieves = await Promise.all(bought.map(({ order }) => send(server.url, stolen(order))));
    expect(thieves).toEqual(
      bought.map(() => ({ status: 402, code: 'payment_already_used', served: false, replayed: false })),
    );
    expect(fixture.held(fixture.payTo)).toBe(PRICE * BigInt(bought.length));
    const storage = await openStorage(url);
    const entries = await readBooks(storage.database);
    await storage.close();
    expect(entries.map(({ state }) => state)).toEqual(bought.map(() => 'served'));
    expect(mistold(entries)).toEqual([]);
  }
});

/** The order as somebody brings it who has its transaction from the chain: with the secret of another 402. */
function stolen(order: Order): Order {
  const header = new Headers(order.init.headers).get('payment-signature') ?? '';
  const { accepted, ...payment } = decodePaymentSignatureHeader(header);
  const own = { ...accepted, extra: { ...accepted.extra, nonce: newNonce() } };
  const headers = { 'payment-signature': encodePaymentSignatureHeader({ ...payment, accepted: own }) };
  return { ...order, init: { headers } };
}
