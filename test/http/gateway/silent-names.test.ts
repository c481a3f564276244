import { createAddressGuard } from '../../../src/gateway/network-guard/address-guard.js';
import { createWebhooks } from '../../../src/gateway/webhooks/webhooks.js';
import { createRoutes } from '../../../src/http/framework/routes.js';
import { WEBHOOKS_OPERATIONS } from '../../../src/http/webhooks/operations.js';
import { type ApiResponse, call, openApiFixture } from '../../helpers/fixtures/api-fixture.js';
import { openWebhookFixture, type WebhookFixture } from '../../helpers/fixtures/webhook-fixture.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import { closeUpstreamFixtures, openUpstreamFixture } from '../../helpers/http/upstream-fixture.js';
import { type NameServer, startNameServer } from '../../helpers/nodes/name-server.js';
import { walletKey } from '../../helpers/transactions/wallet-key.js';
import { until } from '../../helpers/until.js';

/** Longer than a test takes: what is silent is under way until its name server speaks. */
const LONG_MS = 120_000;
const ALLOW = ['127.0.0.0/8'];

let server: NameServer;
let isSilenceOver: boolean;
let api: ReturnType<typeof openApiFixture>;
let fixture: WebhookFixture;
let attacker: ProofHeaders;
let honest: ProofHeaders;

beforeAll(async () => {
  server = await startNameServer((name, type) => {
    if (name.endsWith('evil.test')) return isSilenceOver ? undefined : 'silent';
    if (name.endsWith('ok.test')) return type === 'A' ? ['127.0.0.1'] : [];
    return undefined;
  });
  api = openApiFixture();
  fixture = await openWebhookFixture();
  [attacker, honest] = [await api.tokenOf(walletKey('mallory')), await api.tokenOf(walletKey('alice'))];
});
beforeEach(() => {
  isSilenceOver = false;
});
afterEach(closeUpstreamFixtures);
afterAll(async () => {
  await api.close();
  await fixture.close();
  server.close();
});

/** Webhooks whose addresses, and a proxy whose upstreams, are known to our name server only. */
async function open(timeoutMs: number) {
  const guard = createAddressGuard({ allow: ALLOW, names: { servers: [server.address], timeoutMs } });
  const { webhooks: store, deliveries, worker, now } = fixture;
  const rules = { addressGuard: guard, ownsProject: async () => false, wake: worker.wake };
  const webhooks = createWebhooks({ ...rules, store, deliveries, webhookQuota: async () => 1_000, now });
  const { router } = createRoutes(WEBHOOKS_OPERATIONS, { webhooks, now }, api.callerFor);
  const url = `${await api.serve(router)}/api/v1/webhooks`;
  const register = (host: string, caller: ProofHeaders): Promise<ApiResponse> =>
    call('POST', url, caller, { url: `https://${host}/hook`, events: ['*'] });
  return { guard, register };
}

/** A seller's upstream behind a name, and calls of it. */
async function openShop(guard: ReturnType<typeof createAddressGuard>, host: string) {
  const plain = await openUpstreamFixture({ http: (_req, res) => void res.end('goods') });
  const url = plain.upstreamUrl.replace('127.0.0.1', host);
  const shop = await openUpstreamFixture('down', { proxy: { guard }, forward: { url } });
  return async () => {
    const response = await fetch(`${shop.url}/today`);
    return [response.status, await response.text()];
  };
}

describe('while one wallet registers names whose name server is silent', () => {
  test("others' names are resolved at once: webhooks are made and upstreams are called", async () => {
    const { guard, register } = await open(LONG_MS);
    const buy = await openShop(guard, 'api.ok.test');
    const buySilent = await openShop(guard, 'api.evil.test');
    const silent = Array.from({ length: 40 }, (_, at) => register(`${at}.evil.test`, attacker));
    const unreached = buySilent();
    await until(() => ['39.evil.test A', 'api.evil.test A'].every((it) => server.asked.includes(it)));
    await expect(register('hooks.ok.test', honest)).resolves.toMatchObject({ status: 201 });
    await expect(buy()).resolves.toEqual([200, 'goods']);
    isSilenceOver = true;
    server.speak();
    const statuses = (await Promise.all(silent)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([422]));
    await expect(unreached).resolves.toEqual([502, expect.stringContaining('upstream_unreachable')]);
  });

  test('more of them than are looked up at once cost that wallet alone: it is told 429', async () => {
    const { register } = await open(LONG_MS);
    const early = register('early.evil.test', honest);
    await until(() => server.asked.includes('early.evil.test A'));
    const flood = Array.from({ length: 100 }, (_, at) => register(`${at}.flood.evil.test`, attacker));
    await until(() => server.asked.includes('99.flood.evil.test A'));
    await expect(register('hooks.ok.test', honest)).resolves.toMatchObject({ status: 201 });
    isSilenceOver = true;
    server.speak();
    const responses = await Promise.all(flood);
    expect(new Set(responses.map(({ body }) => body.code))).toEqual(new Set(['rate_limited', 'validation_failed']));
    const refused = responses.find(({ body }) => body.code === 'rate_limited');
    expect(refused).toMatchObject({ status: 429, body: { detail: expect.stringContaining('send this again') } });
    expect(refused?.headers.get('retry-after')).toBe('5');
    // It was there before, and was not pushed out.
    await expect(early).resolves.toMatchObject({ status: 422 });
  });
});

test('a webhook at a name whose name server is silent is refused with the reason, one at an unknown name with its own', async () => {
  const { register } = await open(300);
  const detailOf = async (host: string) => {
    const { status, body } = await register(host, honest);
    return [status, (body.errors as { pointer: string; detail: string }[])[0]];
  };
  const detail = 'must have a host that can be resolved';
  await expect(detailOf('nothing.test')).resolves.toEqual([422, expect.objectContaining({ pointer: '/url', detail })]);
  await expect(detailOf('slow.evil.test')).resolves.toEqual([
    422,
    expect.objectContaining({ pointer: '/url', detail: `${detail}: no name server has told its addresses in time` }),
  ]);
});
