import { openWorkedServer, type WorkedServer } from '../../helpers/fixtures/worked-server.js';
import { type Figures, figuresOf } from '../../helpers/http/figures.js';
import { testFolder } from '../../helpers/processes/test-folder.js';
import { startPostgres } from '../../helpers/storage/postgres.js';

const folder = testFolder();
const DATABASES = [
  ['SQLite', async () => ({ url: `sqlite:${folder.newPath('db')}`, stop: async () => {} })],
  [
    'PostgreSQL',
    async () => {
      const postgres = await startPostgres();
      return { url: await postgres.newDatabase(), stop: postgres.stop };
    },
  ],
] as const;
const NETWORK = 'solana-devnet';
const CALLS = '/v1/:slug';

describe.each(DATABASES)('the figures of a server that has worked, on %s,', (_name, openDatabase) => {
  let stopDatabase: () => Promise<void>;
  let worked: WorkedServer;
  let figures: Figures;

  beforeAll(async () => {
    const database = await openDatabase();
    stopDatabase = database.stop;
    worked = await openWorkedServer(database.url);
    figures = await figuresOf(worked.server.url);
  });
  afterAll(async () => {
    await worked.close();
    await stopDatabase();
  });

  test('say what became of requests, by the pattern of the gate and by project', () => {
    const outcomes = (route: string, project: string) =>
      Object.fromEntries(
        figures
          .rows('tollhouse_gate_requests_total')
          .filter(({ labels }) => labels.route === route && labels.project === project)
          .map(({ labels, value }) => [labels.outcome, value]),
      );
    expect(outcomes('/demo', '')).toEqual({ challenged: 2, paid: 1 });
    // The call that is not charged leaves credit, of which the next one is paid.
    expect(outcomes(CALLS, 'echo')).toEqual({ challenged: 3, paid: 1, uncharged: 1 });
    expect(outcomes(CALLS, worked.hidden.id)).toEqual({ challenged: 1, failed: 1 });
    expect(outcomes(CALLS, 'unknown')).toEqual({ refused: 1 });
    expect(figures.value('tollhouse_gate_seconds_count', { route: CALLS, project: 'echo' })).toBe(5);
    expect(figures.value('tollhouse_gate_seconds_count', { route: '/demo' })).toBe(3);
  });

  test('count calls of projects under one route, and no path or slug of a project that is not listed', () => {
    const rows = figures.rows('tollhouse_http_requests_total').filter(({ labels }) => labels.route === CALLS);
    expect(Object.fromEntries(rows.map(({ labels, value }) => [labels.status, value]))).toEqual({
      200: 1,
      402: 4,
      404: 1,
      500: 1,
      502: 1,
    });
    expect(figures.text).not.toMatch(/whisper|\/say|nothing-here|none/);
  });

  test('tell upstreams from what is ours', () => {
    expect(figures.value('tollhouse_upstream_seconds_count', { project: 'echo' })).toBe(2);
    expect(figures.value('tollhouse_upstream_errors_total', { project: 'echo', kind: 'error' })).toBe(1);
    expect(figures.value('tollhouse_upstream_errors_total', { project: worked.hidden.id, kind: 'reset' })).toBe(1);
    expect(figures.value('tollhouse_upstreams', { state: 'down' })).toBe(1);
    expect(figures.value('tollhouse_upstream_down_seconds', { project: 'echo' })).toBeGreaterThanOrEqual(60);
  });

  test('say what webhooks, payouts and payers wait for', () => {
    expect(figures.value('tollhouse_webhook_attempts_total', { outcome: 'delivered' })).toBeGreaterThan(0);
    expect(figures.value('tollhouse_webhook_attempts_total', { outcome: 'retried' })).toBeGreaterThan(0);
    expect(figures.value('tollhouse_webhook_deliveries_pending')).toBeGreaterThan(0);
    expect(figures.value('tollhouse_payouts', { state: 'unknown' })).toBe(0);
    expect(figures.value('tollhouse_payouts', { state: 'failed' })).toBe(0);
    expect(figures.value('tollhouse_payments_unresolved', { network: NETWORK })).toBe(0);
    const credit = { kind: 'credit', network: NETWORK, token: 'USDC' };
    expect(figures.value('tollhouse_owed_tokens', credit)).toBe(1.012347);
    expect(figures.value('tollhouse_event_stream_readers')).toBe(0);
  });

  test('count the calls of nodes by host and method', () => {
    const endpoint = new URL(worked.server.chain.sandbox!.rpcUrl).host;
    const sent = { network: NETWORK, endpoint, method: 'sendTransaction' };
    expect(figures.value('tollhouse_rpc_calls_total', { ...sent, outcome: 'ok' })).toBeGreaterThanOrEqual(5);
    expect(figures.value('tollhouse_rpc_seconds_count', sent)).toBeGreaterThanOrEqual(5);
  });

  test('say how much of the fees of the hour is taken', () => {
    const [spent, limit] = ['', '_limit'].map((end) => figures.value(`tollhouse_fee_lamports_in_hour${end}`)!) as [
      number,
      number,
    ];
    expect(spent).toBeGreaterThanOrEqual(40_000);
    expect(spent).toBeLessThan(limit / 50);
  });

  test('name what runs', () => {
    expect(figures.value('tollhouse_build_info', { node: process.version })).toBe(1);
    expect(figures.value('process_cpu_seconds_total')).toBeGreaterThan(0);
    expect(figures.value('process_resident_memory_bytes')).toBeGreaterThan(0);
  });
});
