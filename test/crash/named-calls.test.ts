import type { ServerResponse } from 'node:http';
import bs58 from 'bs58';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';
import { newName, type Sent } from '../helpers/fixtures/calls-on-credit.js';
import {
  connectGateway,
  type GatewayClient,
  type MadeKey,
  type MadeProject,
} from '../helpers/fixtures/gateway-client.js';
import { buyPass } from '../helpers/http/passes.js';
import { type Receiver, startReceiver } from '../helpers/http/webhook-receiver.js';
import { type MoneyProcess, startMoneyProcess } from '../helpers/processes/money-process.js';
import { stopFiles } from '../helpers/processes/run-file.js';
import { emptyDatabases } from '../helpers/storage/empty-databases.js';
import { until } from '../helpers/until.js';

const PATIENCE_MS = 180_000;
const USES = 2;

describe.each(emptyDatabases())(
  'a call under a name that a pass pays, and whose process is killed, on $dialect',
  ({ newUrl }) => {
    let sandbox: Sandbox;
    let env: Readonly<Record<string, string>>;
    let server: MoneyProcess;
    let client: GatewayClient;
    let upstream: Receiver;
    let project: MadeProject;
    let key: MadeKey;
    let pass: Sent;
    let held: ServerResponse[];

    beforeAll(async () => {
      sandbox = await startSandbox({ slotMs: 20, maxBlockhashAgeBlocks: 10_000 });
      const feePayer = await sandbox.createWallet({ sol: '100' });
      const [split, owner, payer] = await Promise.all(['0', '0', '10'].map((usdc) => sandbox.createWallet({ usdc })));
      env = {
        MONEY_DATABASE: await newUrl(),
        MONEY_RPC: sandbox.rpcUrl,
        MONEY_KEYPAIR: bs58.encode(feePayer.secretKey),
        MONEY_SPLIT: bs58.encode(split!.secretKey),
      };
      server = await startMoneyProcess(env);
      env = { ...env, MONEY_PORT: String(server.port) };
      client = await connectGateway(`http://127.0.0.1:${server.port}`);
      upstream = await startReceiver((res) => void res.end('done'));
      const pricing = { offers: [{ amount: '0.05', token: 'USDC', pass: { uses: USES } }] };
      project = await client.project(await client.signIn(owner!), {
        slug: 'jobs',
        pricing,
        upstream: { url: upstream.origin },
      });
      key = await client.key(await client.signIn(payer!));
      const init = { method: 'POST', headers: key.headers };
      ({ token: pass } = await buyPass({ sandbox, payer: payer! }, `${client.url}/v1/${project.slug}`, init));
    }, PATIENCE_MS);
    afterAll(async () => {
      stopFiles();
      await upstream?.close();
      await sandbox?.close();
    });

    const call = (name: Sent) =>
      client.call(`${project.slug}/job`, { method: 'POST', headers: { ...key.headers, ...pass, ...name } });

    test(
      'is made again under its name as soon as the process is gone, for the one use that it takes',
      async () => {
        const name = newName();
        held = [];
        upstream.respond((res) => void held.push(res));
        const asked = call(name).catch(() => undefined);
        await until(() => held.length === 1);
        await server.kill();
        await asked;
        server = await startMoneyProcess(env);

        upstream.respond((res) => void res.end('done'));
        let again = await call(name);
        await until(async () => {
          if (again.status === 409) again = await call(name);
          return again.status !== 409;
        });
        expect([again.status, again.text, again.headers.get('access-pass-remaining')]).toEqual([200, 'done', '0']);
        const replay = await call(name);
        expect([replay.text, replay.headers.get('idempotency-replayed')]).toEqual(['done', 'true']);
        expect((await call(newName())).status).toBe(402);
      },
      PATIENCE_MS,
    );
  },
);
