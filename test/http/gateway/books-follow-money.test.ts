import fc from 'fast-check';
import { reconciled } from '../../helpers/crash/reconciled.js';
import { CALL_PRICE, type MadeProject } from '../../helpers/fixtures/gateway-client.js';
import { type Caller, type GatewayFixture, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { type Fetch, payingFetch } from '../../helpers/http/official-clients.js';
import type { Respond } from '../../helpers/http/webhook-receiver.js';

import { DAILY_DATABASES } from '../../helpers/storage/both-databases.js';
import { until } from '../../helpers/until.js';

/** How an upstream behaves. */
const UPSTREAMS: Readonly<Record<string, Respond>> = {
  answers: (res) => void res.end('paid for'),
  fails: (res) => void res.writeHead(500).end('sorry'),
  refuses: (res) => void res.writeHead(404).end('not here'),
  breaks: (res) => void res.destroy(),
  'breaks in mid-body': (res) => {
    res.writeHead(200, { 'content-length': 100 });
    res.write('half', () => res.socket?.resetAndDestroy());
  },
  streams: (res) => {
    res.writeHead(200);
    res.write('the beginning');
    const more = setInterval(() => res.write('more'), 5);
    res.once('close', () => clearInterval(more));
    setTimeout(() => res.end('the end'), 40);
  },
};

/** How a caller behaves. */
const CALLERS = ['stays', 'leaves at once', 'leaves with the first byte'] as const;

const step = fc.record({
  upstream: fc.constantFrom(...Object.keys(UPSTREAMS)),
  caller: fc.constantFrom(...CALLERS),
  /** What becomes of the key's secret before the call: nothing, another one at once, or another one beside it. */
  rotation: fc.constantFrom('none', 'none', 'at once', 'in time'),
});

interface Sums {
  /** What has left the wallet of the caller, by the chain and by its own report. */
  readonly paid: readonly [chain: bigint, report: bigint];
  readonly earned: bigint;
  readonly given: bigint;
  readonly used: bigint;
  /** By the caller's report, and by the owner's. */
  readonly credit: readonly [caller: bigint, owner: bigint];
}

describe.each(DAILY_DATABASES)('what is booked of calls, on %s', (name, openDatabase) => {
  let fixture: GatewayFixture;
  const opened = useGatewayFixture([name, openDatabase], { keepsPasses: true });
  beforeAll(() => {
    fixture = opened();
  });

  const usdcOf = ({ wallet }: Caller) =>
    fixture.sandbox.tokenBalance(wallet.publicKey.toBase58(), fixture.sandbox.tokens[0]!.mint);
  const payerOf = ({ wallet }: Caller) => payingFetch({ wallet, rpcUrl: fixture.sandbox.rpcUrl });

  async function sumsOf(caller: Caller, project: MadeProject, before: bigint): Promise<Sums> {
    const { client, asOwner } = fixture;
    const spending = await client.ask('GET', '/api/v1/spending', undefined, caller.key.headers);
    const figures = await client.ask('GET', `/api/v1/projects/${project.id}/analytics`, undefined, asOwner);
    const rows = (name: string) => (spending.body[name] as readonly { readonly amount_atomic: string }[])[0];
    const total = (name: string) =>
      BigInt(
        (figures.body['totals'] as Readonly<Record<string, Readonly<Record<string, string>>>>)[name]?.['USDC'] ?? 0,
      );
    const owed = figures.body['credit_owed_atomic'] as Readonly<Record<string, string>>;
    return {
      paid: [before - usdcOf(caller), BigInt(rows('totals')?.amount_atomic ?? 0)],
      earned: total('revenue_atomic'),
      given: total('credit_given_atomic'),
      used: total('credit_used_atomic'),
      credit: [BigInt(rows('credit')?.amount_atomic ?? 0), BigInt(owed['USDC'] ?? 0)],
    };
  }

  /** Paid = earned + credit, whoever is asked. */
  function holds({ paid: [chain, report], earned, given, used, credit: [caller, owner] }: Sums): boolean {
    return chain === report && report === earned - used + given && caller === owner && owner === given - used;
  }

  /** The same caller, whose key has another secret. */
  async function rotated(caller: Caller, when: string): Promise<Caller> {
    if (when === 'none') return caller;
    const { client } = fixture;
    const { id, headers } = caller.key;
    const proof = await client.signIn(caller.wallet);
    const wanted = when === 'at once' ? { expire_old_in: 0 } : {};
    const { body } = await client.ask('POST', `/api/v1/keys/${id}/rotate`, wanted, proof);
    const secret = String(body['api_secret']);
    return { ...caller, key: { id, secret, headers: { ...headers, 'x-service-secret': secret } } };
  }

  async function call(pays: Fetch, url: string, caller: Caller, how: (typeof CALLERS)[number]): Promise<void> {
    const controller = new AbortController();
    const asked = pays(url, { headers: caller.key.headers, signal: controller.signal });
    if (how === 'leaves at once') {
      await until(() => fixture.upstream.received.some(({ path }) => url.endsWith(path)));
      controller.abort();
    }
    try {
      const answer = await asked;
      if (how === 'leaves with the first byte') {
        await answer.body?.getReader().read();
        controller.abort();
      } else await answer.text();
    } catch {
      // It broke off, or the caller has left.
    }
  }

  test('five calls of the official client under a budget for two, of an upstream that fails, cost one', async () => {
    const caller = await fixture.newCaller({ spending: { limit: '0.024694', token: 'USDC', window: 'day' } });
    const project = await fixture.newProject();
    fixture.upstream.respond(UPSTREAMS['fails']!);
    const [pays, before] = [await payerOf(caller), usdcOf(caller)];
    const url = `${fixture.client.url}/v1/${project.slug}`;
    for (const _ of '12345') expect((await pays(url, { headers: caller.key.headers })).status).toBe(500);
    const sums = await sumsOf(caller, project, before);
    expect(sums).toMatchObject({ paid: [CALL_PRICE, CALL_PRICE], earned: 0n, credit: [CALL_PRICE, CALL_PRICE] });
    fixture.upstream.respond(UPSTREAMS['answers']!);
    expect((await pays(url, { headers: caller.key.headers })).status).toBe(200);
    // It is written when the response has left.
    await until(async () => (await sumsOf(caller, project, before)).used === CALL_PRICE);
    expect(await sumsOf(caller, project, before)).toMatchObject({
      ...{ paid: [CALL_PRICE, CALL_PRICE], earned: CALL_PRICE, credit: [0n, 0n] },
    });
  });

  test('a stream that was left after its beginning was had, and is nobody else’s fault', async () => {
    const caller = await fixture.newCaller();
    const project = await fixture.newProject();
    fixture.upstream.respond(UPSTREAMS['streams']!);
    const [pays, before] = [await payerOf(caller), usdcOf(caller)];
    const url = `${fixture.client.url}/v1/${project.slug}`;
    for (const part of '123') await call(pays, `${url}/${part}`, caller, 'leaves with the first byte');
    const price = 3n * CALL_PRICE;
    await until(async () => (await sumsOf(caller, project, before)).earned === price);
    expect(await sumsOf(caller, project, before)).toMatchObject({ paid: [price, price], credit: [0n, 0n] });
    const { body } = await fixture.client.ask(
      'GET',
      `/api/v1/projects/${project.id}/analytics`,
      undefined,
      fixture.asOwner,
    );
    expect(body['totals']).toMatchObject({ calls: 3, paid: 3, upstream_errors: 0 });
  });

  test('what left the wallet is what was earned and what is credit, to the atomic unit, after any story', async () => {
    const story = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
      let caller = await fixture.newCaller();
      const project = await fixture.newProject();
      const [pays, before] = [await payerOf(caller), usdcOf(caller)];
      for (const [at, { upstream, caller: how, rotation }] of steps.entries()) {
        fixture.upstream.respond(UPSTREAMS[upstream]!);
        caller = await rotated(caller, rotation);
        await call(pays, `${fixture.client.url}/v1/${project.slug}/${project.slug}-${at}`, caller, how);
      }
      await until(async () => holds(await sumsOf(caller, project, before)));
    });
    await fc.assert(story, { numRuns: 12 });
    await expectTrueBooks();
  });

  test.each([
    ['has bought a pass', { offers: [{ amount: '0.05', token: 'USDC', pass: { uses: 3 } }] }],
    ['is charged for what it has answered', { amount: '0.012347', token: 'USDC', charge_on: ['5xx'] }],
  ])('a failed call that %s is told with its amount, and the books are true', async (_why, pricing) => {
    const caller = await fixture.newCaller();
    const project = await fixture.newProject({ pricing: { ...pricing, network: 'solana-devnet' } });
    fixture.upstream.respond((res) => void res.writeHead(500).end('sorry'));
    const pay = await payerOf(caller);
    const answer = await pay(`${fixture.client.url}/v1/${project.slug}`, { headers: caller.key.headers });
    expect([answer.status, await answer.text()]).toEqual([500, 'sorry']);
    const { body } = await fixture.client.ask('GET', '/api/v1/events', undefined, fixture.asOwner);
    const events = body['data'] as readonly {
      readonly type: string;
      readonly data: Readonly<Record<string, unknown>>;
    }[];
    const told = events.filter(({ data }) => data['slug'] === project.slug);
    expect(told.filter(({ type }) => type === 'call.failed')).toMatchObject([{ data: { token: 'USDC' } }]);
    await expectTrueBooks();
  });

  async function expectTrueBooks(): Promise<void> {
    const { sandbox, facilitator, splitWallet } = fixture;
    const { signers } = await facilitator.supported();
    const wallets = { feePayers: signers, splitWallets: [splitWallet.publicKey.toBase58()] };
    const found = await reconciled({ sandbox, ...wallets }, fixture.storage);
    expect(found).toMatchObject({ open: 0, differences: 0, found: [] });
  }
});
