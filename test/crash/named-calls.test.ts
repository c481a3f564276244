import type { ServerResponse } from 'node:http';
import bs58 from 'bs58';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';
import { openStorage } from '../../src/storage/open-storage.js';
import { readBooks } from '../helpers/crash/books.js';
import { newName, type Sent } from '../helpers/fixtures/calls-on-credit.js';
import {
  connectGateway,
  type GatewayClient,
  type MadeKey,
  type MadeProject,
} from '../helpers/fixtures/gateway-client.js';
import { buyPass } from '../helpers/http/passes.js';
import { type Receiver, startReceiver } from '../helpers/http/webhook-receiver.js';
import { freePort } from '../helpers/processes/free-port.js';
import { type MoneyProcess, startMoneyProcess } from '../helpers/processes/money-process.js';
import { stopFiles } from '../helpers/processes/run-file.js';
import { emptyDatabases } from '../helpers/storage/empty-databases.js';
import { signPayment, type Wallet } from '../helpers/transactions/payments.js';
import { until } from '../helpers/until.js';

/** One for each test, and that of the purchase. */
const USES = 5;

describe.each(emptyDatabases())(
  'a call under a name that a pass or a payment pays, and whose process is killed, on $dialect',
  ({ newUrl }) => {
    let sandbox: Sandbox;
    let env: Readonly<Record<string, string>>;
    let server: MoneyProcess;
    let client: GatewayClient;
    let upstream: Receiver;
    let project: MadeProject;
    let single: MadeProject;
    let key: MadeKey;
    let pass: Sent;
    let wallet: Wallet;
    let held: ServerResponse[];
    let used = 1;

    beforeAll(async () => {
      sandbox = await startSandbox({ slotMs: 20, maxBlockhashAgeBlocks: 10_000 });
      const feePayer = await sandbox.createWallet({ sol: '100' });
      const [split, owner, payer] = await Promise.all(['0', '0', '10'].map((usdc) => sandbox.createWallet({ usdc })));
      env = {
        MONEY_DATABASE: await newUrl(),
        MONEY_RPC: sandbox.rpcUrl,
        MONEY_KEYPAIR: bs58.encode(feePayer.secretKey),
        MONEY_SPLIT: bs58.encode(split!.secretKey),
        // It is started anew where it was.
        MONEY_PORT: String(await freePort()),
      };
      server = await startMoneyProcess(env);
      client = await connectGateway(`http://127.0.0.1:${server.port}`);
      upstream = await startReceiver((res) => void res.end('done'));
      const pricing = { offers: [{ amount: '0.05', token: 'USDC', pass: { uses: USES } }] };
      const upstreamUrl = { upstream: { url: upstream.origin } };
      const by = await client.signIn(owner!);
      project = await client.project(by, { slug: 'jobs', pricing, ...upstreamUrl });
      single = await client.project(by, { slug: 'single', ...upstreamUrl });
      key = await client.key(await client.signIn(payer!));
      const init = { method: 'POST', headers: key.headers };
      wallet = { sandbox, payer: payer! };
      ({ token: pass } = await buyPass(wallet, `${client.url}/v1/${project.slug}`, init));
      const storage = await openStorage(env['MONEY_DATABASE'] ?? '');
      await until(async () => (await readBooks(storage.database)).every(({ state }) => state === 'served'));
      await storage.close();
    });
    afterAll(async () => {
      stopFiles();
      await upstream?.close();
      await sandbox?.close();
    });

    const replayOf = async (name: Sent) => {
      const replay = await call(name);
      return [replay.text, replay.headers.get('idempotency-replayed')];
    };

    const call = (name: Sent, by = pass) =>
      client.call(`${(by === pass ? project : single).slug}/job`, {
        method: 'POST',
        headers: { ...key.headers, ...by, ...name },
      });

    /** Has its upstream asked, and kills the process before there is a response. */
    async function killUnderWay(name: Sent, by = pass): Promise<void> {
      held = [];
      upstream.respond((res) => void held.push(res));
      await killedDuring(name, () => until(() => held.length === 1), by);
    }

    async function killedDuring(name: Sent, moment: () => Promise<void>, by = pass): Promise<void> {
      const asked = call(name, by).catch(() => undefined);
      await moment();
      await server.kill();
      await asked;
    }

    /** Starts the server again, and makes the call until its name is free. */
    async function callAgain(name: Sent, by = pass) {
      server = await startMoneyProcess(env);
      upstream.respond((res) => void res.end('done'));
      let again = await call(name, by);
      await until(async () => {
        if (again.status === 409) again = await call(name, by);
        return again.status !== 409;
      });
      return [again.status, again.text, again.headers.get('access-pass-remaining')];
    }

    const startStanding = async (where: string) => {
      server = await startMoneyProcess({ ...env, MONEY_STANDS: where });
    };

    test.each(['before debit', 'after debit'])(
      'takes one use where that was killed %s, and all others are left',
      async (where) => {
        await server.kill();
        await startStanding(where);
        const name = newName();
        await killedDuring(name, () => server.stands());
        used += 1;
        expect(await callAgain(name)).toEqual([200, 'done', String(USES - used)]);
        expect(await replayOf(name)).toEqual(['done', 'true']);
      },
    );

    test('takes one use where who took it over was killed as well, before it had given back what the first had taken', async () => {
      const name = newName();
      await killUnderWay(name);
      await startStanding('before giving back');
      await killedDuring(name, async () => {
        // It may be held back until the first process is known to be gone.
        await Promise.race([server.stands(), until(async () => (await call(name)).status !== 409)]);
      });
      used += 1;
      expect(await callAgain(name)).toEqual([200, 'done', String(USES - used)]);
    });

    test('is made again under its name as soon as the process is gone, for the one use that it takes, which may be the last', async () => {
      const name = newName();
      await killUnderWay(name);
      expect(await callAgain(name)).toEqual([200, 'done', '0']);
      expect(await replayOf(name)).toEqual(['done', 'true']);
      expect((await call(newName())).status).toBe(402);
    });

    const pay = async () => {
      const init = { method: 'POST', headers: key.headers };
      return (await signPayment(wallet, `${client.url}/v1/${single.slug}/job`, { init })).v2;
    };
    const unpaid = {};

    test.each(['that payment', 'its name alone', 'another payment'])(
      'is made again for the payment that had paid it, by %s, and had by its name',
      async (by) => {
        const [name, paid, other] = [newName(), await pay(), await pay()];
        await killUnderWay(name, paid);
        const brought = { 'that payment': paid, 'its name alone': unpaid, 'another payment': other }[by];
        expect(await callAgain(name, brought)).toEqual([200, 'done', null]);
        expect((await call(name, unpaid)).text).toBe('done');
        expect((await call(newName(), unpaid)).status).toBe(402);
        expect((await call(newName(), other)).text).toBe('done');
      },
    );

    test('is had by its name where its response was kept for its payment alone', async () => {
      const name = newName();
      await server.kill();
      await startStanding('before a name has its response');
      upstream.respond((res) => void res.end('done, and kept'));
      await killedDuring(name, () => server.stands(), await pay());
      expect(await callAgain(name, unpaid)).toEqual([200, 'done, and kept', null]);
      expect((await call(name, await pay())).text).toBe('done, and kept');
    });
  },
);
