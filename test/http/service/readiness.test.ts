import { copyFileSync, renameSync, rmSync } from 'node:fs';
import type { EmbeddedFacilitator } from '../../../src/facilitator/create-facilitator.js';
import { createRouter, type RouterSettings } from '../../../src/http/create-router.js';
import { createMemoryCounters } from '../../../src/storage/counters/memory-counters.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { startLaggingNode } from '../../helpers/nodes/lagging-node.js';
import { testFolder } from '../../helpers/processes/test-folder.js';
import { until } from '../../helpers/until.js';

const NETWORK = 'solana-devnet';

interface Part {
  readonly part: string;
  readonly network?: string;
  readonly state: string;
  readonly reason?: string;
  readonly since: string;
}

describe('readiness, part by part', () => {
  const folder = testFolder();
  let fixture: TollFixture;

  beforeAll(async () => {
    fixture = await openTollFixture();
  });
  afterEach(() => fixture.sandbox.faults.clear());
  afterAll(() => fixture.close());

  async function serve(facilitator: EmbeddedFacilitator, options: Partial<RouterSettings> = {}) {
    const url = await fixture.serve((app) => app.use(createRouter({ facilitator, limits: false, ...options })));
    return async () => {
      const answer = await fetch(`${url}/readyz`);
      const { parts } = (await answer.json()) as { parts: readonly Part[] };
      return { status: answer.status, part: (name: string) => parts.find(({ part }) => part === name), parts };
    };
  }

  test('each part of a healthy service is ok, with its network where it has one, and since when', async () => {
    const read = await serve(fixture.facilitatorWith({}));
    const { parts } = await read();
    expect(parts.map(({ part, network }) => [part, network])).toEqual([
      ['store', undefined],
      ...['rpc', 'fee_payer', 'fee_limit', 'clock'].map((it) => [it, NETWORK]),
      ...['counters', 'limits'].map((it) => [it, undefined]),
    ]);
    for (const { state, reason, since } of parts) {
      expect([state, reason]).toEqual(['ok', undefined]);
      expect(Math.abs(Date.now() - Date.parse(since))).toBeLessThan(60_000);
    }
  });

  test('what cannot be looked at without the RPC is unknown, and not said to be well', async () => {
    const read = await serve(fixture.facilitatorWith({ rpcTimeoutMs: 300 }));
    fixture.sandbox.faults.add({ kind: 'disconnect' });
    const { status, part } = await read();
    expect(status).toBe(503);
    expect(part('rpc')).toMatchObject({ state: 'failed', reason: 'the Solana RPC does not answer', network: NETWORK });
    expect(part('fee_payer')).toMatchObject({ state: 'unknown', reason: expect.stringMatching(/could not be asked/) });
    expect(part('clock')).toMatchObject({ state: 'unknown', reason: expect.any(String) });
    for (const name of ['store', 'fee_limit', 'counters', 'limits']) expect(part(name)?.state).toBe('ok');
  });

  test('a part keeps the time of its state until that is another one', async () => {
    const read = await serve(fixture.facilitatorWith({ rpcTimeoutMs: 300 }));
    fixture.sandbox.faults.add({ kind: 'disconnect' });
    const since = (await read()).part('rpc')?.since;
    expect((await read()).part('rpc')?.since).toBe(since);
    fixture.sandbox.faults.clear();
    await until(async () => (await read()).part('rpc')?.state === 'ok');
    expect(Date.parse((await read()).part('rpc')?.since ?? '')).toBeGreaterThan(Date.parse(since ?? ''));
  });

  test('a clock that is a minute from the chain is told, and keeps nobody from paying', async () => {
    const read = await serve(fixture.facilitatorWith({ now: () => Date.now() + 60_000 }));
    const { status, part } = await read();
    expect([status, part('clock')]).toEqual([200, expect.objectContaining({ state: 'degraded' })]);
  });

  test('an RPC endpoint that lags behind another is named, and keeps nobody from paying', async () => {
    const { sandbox } = fixture;
    const node = await startLaggingNode(sandbox);
    node.slotsBehind = 60;
    const read = await serve(fixture.facilitatorWith({ rpcUrl: [node.url, sandbox.rpcUrl] }));
    const { status, part } = await read();
    await node.close();
    const reason = expect.stringMatching(/^127\.0\.0\.1:\d+ is \d+ slots behind; the other endpoints/);
    expect([status, part('rpc')]).toEqual([200, expect.objectContaining({ state: 'degraded', reason })]);
  });

  test('the disk of a SQLite file is a part, and a database takes a write', async () => {
    const storage = await openStorage(`sqlite:${folder.newPath('db')}`);
    const read = await serve(fixture.facilitatorWith({ storage }));
    const { part } = await read();
    expect(part('store')?.state).toBe('ok');
    expect(['ok', 'degraded']).toContain(part('disk')?.state);
    await storage.close();
  });

  test.each([
    ['was moved', (path: string) => renameSync(path, `${path}.aside`)],
    ['was deleted', (path: string) => rmSync(path)],
    ['has another one in its place', (path: string) => copyFileSync(path, `${path}.copy`), true],
  ])(
    'a SQLite file that %s fails the store, as what is written is found by no restart',
    async (_how, lose, isReplaced = false) => {
      const path = folder.newPath('db');
      const storage = await openStorage(`sqlite:${path}`);
      lose(path);
      if (isReplaced) renameSync(`${path}.copy`, path);
      const read = await serve(fixture.facilitatorWith({ storage }));
      const { status, part } = await read();
      expect([status, part('store')]).toEqual([
        503,
        expect.objectContaining({ state: 'failed', reason: expect.stringContaining('is another one, or gone') }),
      ]);
      await storage.close();
    },
  );

  test('however often strangers ask, counters are asked once in five seconds', async () => {
    let asked = 0;
    const counters = createMemoryCounters();
    const increment: typeof counters.increment = (...given) => {
      asked += 1;
      return counters.increment(...given);
    };
    const since = performance.now();
    const read = await serve(fixture.facilitatorWith({}), { counters: { ...counters, increment } });
    for (let n = 0; n < 20; n += 1) await Promise.all([read(), read()]);
    expect(asked).toBeLessThanOrEqual(1 + (performance.now() - since) / 5_000);
  });
});
