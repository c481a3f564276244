import { type FaultFixture, openFaultFixture } from '../helpers/crash/fault-fixture.js';
import { closeRpcEndpoints, deadUrl, type Reaction, startRpcEndpoint } from '../helpers/nodes/rpc-endpoint.js';
import { openTcpRelay, type TcpRelay } from '../helpers/nodes/tcp-relay.js';

const PAYERS = 8;
/** Of them, so many come while an endpoint that will be lost is still good. */
const EARLY = 2;
const RPC_TIMEOUT_MS = 8_000;

/** What the first of three endpoints may be like; a response that never comes is waited for once. */
const BAD: Readonly<Record<string, (rpcUrl: string) => Promise<Bad>>> = {
  'is too slow to be waited for': (rpcUrl) => relayed(rpcUrl, { latencyMs: RPC_TIMEOUT_MS }),
  'is lost by every open connection and accepts no other': (rpcUrl) => relayed(rpcUrl, { isLost: true }),
  'accepts connections and is silent': (rpcUrl) => relayed(rpcUrl, { swallows: true }),
  hangs: reacts('hang'),
  'cuts connections': reacts('disconnect'),
  'is not there': async () => ({ url: await deadUrl() }),
  'limits rates': reacts({ status: 429 }),
  'lags behind': reacts({ error: { code: -32_005, message: 'node is behind' } }),
};

/** A bad endpoint. */
interface Bad {
  readonly url: string;
  /** Lets it go bad; one without was never good. */
  readonly worsen?: () => void;
  /** Calls that it has had. */
  readonly calls?: () => number;
}

function reacts(reaction: Reaction): () => Promise<Bad> {
  return async () => {
    const { url, calls } = await startRpcEndpoint(() => reaction);
    return { url, calls: () => calls.length };
  };
}

const relays: TcpRelay[] = [];

async function relayed(
  rpcUrl: string,
  { isLost = false, ...how }: Partial<Pick<TcpRelay, 'latencyMs' | 'swallows'>> & { readonly isLost?: boolean },
): Promise<Bad> {
  const relay = await openTcpRelay(rpcUrl);
  relays.push(relay);
  const worsen = (): void => {
    relay.freeze();
    relay.swallows = true;
  };
  return { url: Object.assign(relay, how).url, ...(isLost ? { worsen } : {}) };
}

describe('one bad RPC endpoint of three is not noticed by payers: it', () => {
  let fixture: FaultFixture;
  beforeAll(async () => {
    fixture = await openFaultFixture();
  });
  afterEach(async () => {
    await Promise.all([closeRpcEndpoints(), ...relays.splice(0).map((it) => it.close())]);
  });
  afterAll(() => fixture.close());

  test.each(Object.entries(BAD))('%s', async (_name, open) => {
    const { rpcUrl } = fixture.sandbox;
    const bad = await open(rpcUrl);
    const shop = await fixture.openShop({ rpcUrl: [bad.url, rpcUrl, rpcUrl], rpcTimeoutMs: RPC_TIMEOUT_MS });
    const orders = await shop.orders(EARLY + PAYERS);
    const early = await shop.send(orders.slice(0, EARLY));
    bad.worsen?.();
    const replies = [...early, ...(await shop.send(orders.slice(EARLY)))];
    shop.expectTold(replies, ['200']);
    // Those that were under way together, and then one now and then.
    expect(bad.calls?.() ?? 0).toBeLessThan(2 * PAYERS);
    await shop.expectGood(orders, replies);
  });
});
