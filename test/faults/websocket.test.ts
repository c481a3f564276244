import type { Faults } from '../../src/sandbox/start-sandbox.js';
import { type FaultFixture, openFaultFixture } from '../helpers/crash/fault-fixture.js';
import { openTcpRelay, type TcpRelay } from '../helpers/nodes/tcp-relay.js';

const PAYERS = 8;
/** So many come while it is good. */
const EARLY = 2;

interface Row {
  readonly name: string;
  readonly begin: (where: { readonly faults: Faults; readonly relay: TcpRelay }) => void;
}

/** Whatever becomes of the pushes, payers are served: the chain is asked instead, some time later. */
const ROWS: readonly Row[] = [
  { name: 'takes subscriptions and is silent', begin: ({ faults }) => faults.add({ kind: 'silent' }) },
  {
    name: 'answers errors to subscriptions',
    begin: ({ faults }) => faults.add({ kind: 'error', method: 'signatureSubscribe' }),
  },
  { name: 'falls silent without a word, its connection half open', begin: ({ relay }) => relay.freeze() },
  { name: 'is cut', begin: ({ relay }) => relay.cut() },
  {
    name: 'is cut, and accepts connections without a word',
    begin: ({ relay }) => {
      relay.swallows = true;
      relay.cut();
    },
  },
];

describe('the WebSocket for confirmations', () => {
  let fixture: FaultFixture;
  const relays: TcpRelay[] = [];
  beforeAll(async () => {
    fixture = await openFaultFixture();
  });
  afterEach(async () => {
    fixture.sandbox.faults.clear();
    await Promise.all(relays.splice(0).map((it) => it.close()));
  });
  afterAll(() => fixture.close());

  test.each(ROWS)('$name', async ({ begin }) => {
    const relay = await openTcpRelay(fixture.sandbox.wsUrl);
    relays.push(relay);
    const shop = await fixture.openShop({ wsUrl: relay.url });
    const orders = await shop.orders(EARLY + PAYERS);
    const early = await shop.send(orders.slice(0, EARLY));
    expect(relay.connections()).toBe(1);
    begin({ faults: fixture.sandbox.faults, relay });
    const replies = [...early, ...(await shop.send(orders.slice(EARLY)))];
    shop.expectTold(replies, ['200']);
    await shop.expectGood(orders, replies);
  });
});
