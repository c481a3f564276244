import type { FacilitatorOptions } from '../../src/facilitator/facilitator-options.js';
import type { FaultKind, Faults } from '../../src/sandbox/start-sandbox.js';
import { type FaultFixture, openFaultFixture } from '../helpers/crash/fault-fixture.js';
import { openTcpRelay, type TcpRelay } from '../helpers/nodes/tcp-relay.js';

const PAYERS = 8;
/** So many come before, so that connections are open. */
const EARLY = 4;
const SERVED = '200';
const NOT_NOW = '503 payment_backend_unavailable';
const PENDING = '503 settlement_pending';

const HURRIED: Partial<FacilitatorOptions> = { rpcTimeoutMs: 1_000, settleTimeoutMs: 1_000 };
/** Shortest rest after the first failure; each further one at least doubles it. */
const SHORTEST_REST_MS = 50;

/** How many tries the rests of a sick endpoint allow in so many milliseconds, at most. */
const triesIn = (milliseconds: number): number => 1 + Math.ceil(Math.log2(milliseconds / SHORTEST_REST_MS + 1));

const PATIENT: Partial<FacilitatorOptions> = { rpcTimeoutMs: 4_000 };

interface Row {
  readonly name: string;
  readonly begin: (where: { readonly faults: Faults; readonly relay: TcpRelay }) => void;
  readonly options: Partial<FacilitatorOptions>;
  /** What payers may be told while it lasts. */
  readonly sees: readonly string[];
}

/** When the fault is over, the payment of everybody who was not served is good, whatever they were told. */
const ROWS: readonly Row[] = [
  {
    name: 'answers late',
    begin: ({ relay }) => {
      relay.latencyMs = 200;
    },
    options: PATIENT,
    sees: [SERVED],
  },
  {
    name: 'fails once',
    begin: ({ faults }) => faults.add({ kind: 'error', times: 1 }),
    options: PATIENT,
    sees: [SERVED],
  },
  {
    name: 'answers nothing but errors',
    begin: ({ faults }) => faults.add({ kind: 'error' }),
    options: HURRIED,
    sees: [NOT_NOW, PENDING],
  },
  {
    name: 'limits rates',
    begin: ({ faults }) => faults.add({ kind: '429' }),
    options: HURRIED,
    sees: [NOT_NOW, PENDING],
  },
  { name: 'hangs', begin: ({ faults }) => faults.add({ kind: 'hang' }), options: HURRIED, sees: [NOT_NOW, PENDING] },
  {
    name: 'cuts connections',
    begin: ({ faults }) => faults.add({ kind: 'disconnect' }),
    options: HURRIED,
    sees: [NOT_NOW, PENDING],
  },
  {
    name: 'takes transactions and cuts the connection',
    begin: ({ faults }) => faults.add({ kind: 'disconnect', method: 'sendTransaction', takesEffect: true }),
    options: PATIENT,
    sees: [SERVED],
  },
  {
    name: 'takes transactions and does not say so',
    begin: ({ faults }) => faults.add({ kind: 'hang', method: 'sendTransaction', times: PAYERS, takesEffect: true }),
    options: PATIENT,
    sees: [SERVED],
  },
  {
    name: 'is lost by every open connection, without a word',
    begin: ({ relay }) => relay.freeze(),
    options: PATIENT,
    sees: [SERVED],
  },
  {
    name: 'accepts connections and is silent',
    begin: ({ relay }) => {
      relay.swallows = true;
      relay.cut();
    },
    options: HURRIED,
    sees: [NOT_NOW, PENDING],
  },
];

describe('the only RPC endpoint', () => {
  let fixture: FaultFixture;
  let relay: TcpRelay;
  beforeAll(async () => {
    fixture = await openFaultFixture();
    relay = await openTcpRelay(fixture.sandbox.rpcUrl);
  });
  afterEach(() => fixture.sandbox.faults.clear());
  afterAll(async () => {
    await fixture.close();
    await relay.close();
  });

  test.each(ROWS)('$name', async ({ begin, options, sees }) => {
    const shop = await fixture.openShop({ ...options, rpcUrl: relay.url });
    const orders = await shop.orders(EARLY + PAYERS);
    const early = await shop.insist(orders.slice(0, EARLY));
    begin({ faults: fixture.sandbox.faults, relay });
    const replies = await shop.send(orders.slice(EARLY));
    fixture.sandbox.faults.clear();
    relay.latencyMs = 0;
    if (relay.swallows) relay.freeze();
    relay.swallows = false;
    shop.expectTold(replies, sees);
    await shop.expectGood(orders, [...early, ...replies]);
  });

  test.each<FaultKind>(['error', '429', 'disconnect', 'hang'])('is not beaten while it is sick: %s', async (kind) => {
    const { sandbox } = fixture;
    const shop = await fixture.openShop({ ...HURRIED, rpcUrl: relay.url });
    const orders = await shop.orders(1 + 2 * PAYERS);
    sandbox.faults.add({ kind });
    const [first] = await shop.send(orders.slice(0, 1));
    sandbox.resetCalls();
    const since = performance.now();
    const replies = await shop.send(orders.slice(1));
    expect(sandbox.calls.total).toBeLessThanOrEqual(triesIn(performance.now() - since));
    sandbox.faults.clear();
    expect([first, ...replies].map((it) => it?.status)).toEqual(orders.map(() => 503));
    expect((await shop.insist(orders.slice(0, 2))).map(({ served }) => served)).toEqual([true, true]);
  });
});
