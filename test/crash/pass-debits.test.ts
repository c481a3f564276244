import { Agent, request } from 'node:http';
import { openStorage } from '../../src/storage/open-storage.js';
import type { Storage } from '../../src/storage/storage.js';
import { type CrashFixture, openCrashFixture, type Seller } from '../helpers/crash/crash-fixture.js';
import { orderAtGate } from '../helpers/crash/orders.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { type PostgresServer, startPostgres } from '../helpers/storage/postgres.js';
import { until } from '../helpers/until.js';

/** `PASS_DEBITS=10000 PASS_KILLS=20 npx jest test/crash/pass-debits.test.ts` is a long run. */
const DEBITS = Number(process.env['PASS_DEBITS'] ?? 2_000);
const KILLS = Number(process.env['PASS_KILLS'] ?? 3);
const LEASE_MS = 30_000;
const AT_ONCE = 64;
const PATIENCE_MS = 900_000;

/** What is asked of the handler: to respond, or to fail in one way or another. One in three fails. */
const HOWS = ['good', 'good', 'good', 'good', 'good', 'good', 'fail', 'throw', 'break'] as const;

/** What came of a request: `served`, the code of a refusal, `failed` by its handler, or `lost` with its connection. */
type Outcome = 'served' | 'failed' | 'lost' | 'pass_used_up';

const STORES = [
  { store: 'SQLite', processes: 1 },
  { store: 'Postgres', processes: 2 },
] as const;

describe.each(STORES)(
  'a pass that is used from all sides, in $processes process(es) on $store',
  ({ store, processes }) => {
    const folder = testFolder();
    const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
    let fixture: CrashFixture;
    let server: PostgresServer | undefined;
    let storage: Storage;
    let url: string;
    let sellers: Seller[];
    /** Of processes that were killed: when they are up again. */
    const restarts = new Map<number, Promise<void>>();

    beforeAll(async () => {
      fixture = await openCrashFixture();
      if (store === 'Postgres') server = await startPostgres();
      url = (await server?.newDatabase()) ?? `sqlite:${folder.newPath('db')}`;
      storage = await openStorage(url);
    }, PATIENCE_MS);
    afterEach(() => Promise.all(sellers.map((it) => it.kill())));
    afterAll(async () => {
      agent.destroy();
      await fixture.close();
      await storage.close();
      await server?.stop();
    });

    /** Buys a pass of so many uses, of which the paid request is the first. */
    async function buy(uses: number) {
      sellers = await Promise.all(Array.from({ length: processes }, () => fixture.startSeller(url, LEASE_MS, uses)));
      const wallet = await fixture.sandbox.createWallet({ usdc: '1' });
      const { path, init } = await orderAtGate(fixture, wallet, '/covered/good');
      const paid = await fetch(`${sellers[0]?.url}${path}`, init);
      await paid.text();
      const [pass] = await storage.passes.list(wallet.publicKey.toBase58());
      if (pass === undefined) throw new Error(`no pass was opened: ${paid.status}`);
      return { id: pass.id, headers: { 'access-pass': paid.headers.get('access-pass') ?? '' } };
    }

    /** Sends one request to one of the processes, once that is up. */
    async function use(headers: Readonly<Record<string, string>>, how: string): Promise<Outcome> {
      const at = Math.floor(Math.random() * sellers.length);
      await restarts.get(at);
      const seller = sellers[at];
      return new Promise((resolve) => {
        const sent = request(`${seller?.url}/covered/${how}`, { headers, agent }, (answer) => {
          let text = '';
          answer.setEncoding('utf8').on('data', (part: string) => {
            text += part;
          });
          answer.on('end', () => resolve(outcomeOf(answer.statusCode ?? 0, text)));
          answer.on('error', () => resolve('lost'));
        });
        sent.on('error', () => resolve('lost')).end();
      });
    }

    /** Sends requests at random, many at once. */
    async function useAll(
      headers: Readonly<Record<string, string>>,
      count: number,
      onSent: (at: number) => void = () => {},
    ) {
      const outcomes: Outcome[] = [];
      let sent = 0;
      async function worker(): Promise<void> {
        while (sent < count) {
          sent += 1;
          onSent(sent);
          const how = HOWS[Math.floor(Math.random() * HOWS.length)] ?? 'good';
          outcomes.push(await use(headers, how));
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, worker));
      return (outcome: Outcome): number => outcomes.filter((it) => it === outcome).length;
    }

    /** What is left of the pass, and what its requests have taken and were not given back, but for the paid one. */
    async function books(id: string) {
      // In one statement: what is broken off may be given back between two.
      const text = `select remaining, (
          select coalesce(sum(amount), 0) from tollhouse_pass_debit where pass_id = $1 and request <> payment_id) as taken
        from tollhouse_pass where id = $1`;
      const [row] = await storage.database.query({ name: 'test_pass_books', text }, id);
      return { left: Number(row?.remaining), taken: Number(row?.taken) };
    }

    test(
      `${DEBITS} requests take what was bought, to the last use and no further, though handlers fail`,
      async () => {
        const uses = Math.floor(DEBITS / 2) + 1;
        const { id, headers } = await buy(uses);
        const countOf = await useAll(headers, DEBITS);
        let served = countOf('served');
        expect(countOf('pass_used_up')).toBeGreaterThan(0);
        await until(async () => (await books(id)).taken === served);
        expect(await books(id)).toEqual({ left: uses - 1 - served, taken: served });
        while ((await use(headers, 'good')) === 'served') served += 1;
        expect([served, await books(id)]).toEqual([uses - 1, { left: 0, taken: uses - 1 }]);
      },
      PATIENCE_MS,
    );

    test(
      `${KILLS} kills at random lose no use but those of requests that were under way`,
      async () => {
        const fewer = Math.floor(DEBITS / 4);
        const uses = fewer + 1;
        const { id, headers } = await buy(uses);
        const killAt = new Set(
          Array.from({ length: KILLS }, (_, at) => Math.floor(((at + Math.random()) * fewer) / KILLS) + 1),
        );
        const countOf = await useAll(headers, fewer, (at) => {
          if (killAt.has(at)) killOne(uses);
        });
        await Promise.all(restarts.values());
        const [served, lost] = [countOf('served'), countOf('lost')];
        expect(served).toBeGreaterThan(0);
        expect(countOf('pass_used_up')).toBe(0);
        // What a request has taken that was broken off on purpose is given back a moment later.
        await until(async () => (await books(id)).taken <= served + KILLS * AT_ONCE * processes);
        const { left, taken } = await books(id);
        expect(left + taken).toBe(uses - 1);
        expect(taken).toBeGreaterThanOrEqual(served);
        expect(taken).toBeLessThanOrEqual(served + lost);
      },
      PATIENCE_MS,
    );

    function killOne(uses: number): void {
      const at = Math.floor(Math.random() * sellers.length);
      restarts.set(
        at,
        (restarts.get(at) ?? Promise.resolve()).then(() => restart(at, uses)),
      );
    }

    async function restart(at: number, uses: number): Promise<void> {
      await sellers[at]?.kill();
      sellers[at] = await fixture.startSeller(url, LEASE_MS, uses);
    }
  },
);

function outcomeOf(status: number, text: string): Outcome {
  if (status === 200) return 'served';
  if (status !== 402) return 'failed';
  const { code } = JSON.parse(text) as { readonly code: Outcome };
  return code;
}
