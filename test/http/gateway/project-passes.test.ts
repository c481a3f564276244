import { TollhouseError } from '../../../src/errors/errors.js';
import { createGateway } from '../../../src/gateway/create-gateway.js';
import { createRouter } from '../../../src/http/create-router.js';
import { createIdentity } from '../../../src/identity/create-identity.js';
import type { MadeProject } from '../../helpers/fixtures/gateway-client.js';
import { type Caller, type GatewayFixture, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { SECRET } from '../../helpers/fixtures/identity-fixture.js';
import { type Fetch, signingFetch } from '../../helpers/http/official-clients.js';
import { buyPass, passAnswer } from '../../helpers/http/passes.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import { DAILY_DATABASES } from '../../helpers/storage/both-databases.js';
import { signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const PACK = { amount: '0.05', token: 'USDC', pass: { uses: 10 } };
const PACK_PRICE = 50_000n;
const ONE_USE = '1 use was not charged for this request, and is left of the pass';

describe.each(DAILY_DATABASES)('passes of a project, on %s', (name, openDatabase) => {
  const opened = useGatewayFixture([name, openDatabase], { keepsPasses: true });
  let fixture: GatewayFixture;
  let caller: Caller;

  beforeAll(() => {
    fixture = opened();
  });
  beforeEach(async () => {
    fixture.upstream.respond((res) => void res.end('paid for'));
    caller = await fixture.newCaller();
  });

  const newProject = (offers: readonly object[] = [PACK], more: object = {}) =>
    fixture.newProject({ pricing: { offers }, ...more });
  const urlOf = ({ slug }: MadeProject, origin = fixture.client.url) => `${origin}/v1/${slug}`;
  const clientOf = ({ wallet }: Caller): Promise<Fetch> => signingFetch({ wallet, rpcUrl: fixture.sandbox.rpcUrl });
  const walletOf = ({ wallet: payer }: Caller) => ({ sandbox: fixture.sandbox, payer });
  const mint = () => fixture.sandbox.tokens[0]!.mint;
  const received = (address: string) => fixture.sandbox.tokenBalance(address, mint());
  const buy = (project: MadeProject, by = caller) => buyPass(walletOf(by), urlOf(project), { headers: by.key.headers });
  const call = async (project: MadeProject, headers: ProofHeaders, by = caller) =>
    passAnswer(await fetch(urlOf(project), { headers: { ...by.key.headers, ...headers } }));
  const analyticsOf = async ({ id }: MadeProject) =>
    (await fixture.client.ask('GET', `/api/v1/projects/${id}/analytics`, undefined, fixture.asOwner)).body;

  test('are bought once by the official client, which signs in for the other nine calls', async () => {
    const project = await newProject();
    // The key is of another wallet, which has paid for nothing.
    const { key } = await fixture.newCaller();
    const official = await clientOf(caller);
    const before = received(fixture.owner.publicKey.toBase58());
    const hits = fixture.hits();
    const answers = [];
    for (let n = 0; n < 10; n += 1) {
      const answer = await official(urlOf(project), { headers: key.headers });
      answers.push([answer.status, answer.headers.get('access-pass-remaining'), await answer.text()]);
    }
    expect(answers).toEqual(Array.from({ length: 10 }, (_, at) => [200, String(9 - at), 'paid for']));
    expect([fixture.hits() - hits, received(fixture.owner.publicKey.toBase58()) - before]).toEqual([10, PACK_PRICE]);

    await until(async () => {
      const { totals } = await analyticsOf(project);
      return (totals as { readonly pass_uses: number }).pass_uses === 10;
    });
    const { totals } = await analyticsOf(project);
    expect(totals).toMatchObject({ calls: 10, paid: 1, passes_sold: 1, payers: 1, revenue: { USDC: '0.05' } });
    const { body } = await fixture.client.ask(
      'GET',
      `/api/v1/projects/${project.id}/calls`,
      undefined,
      fixture.asOwner,
    );
    const calls = body['data'] as readonly { readonly pass_id: string; readonly amount: string | null }[];
    expect(new Set(calls.map((it) => it.pass_id)).size).toBe(1);
    expect(calls.map((it) => it.amount)).toEqual([...Array(9).fill(null), '0.05']);
    expect((await official(urlOf(project), { headers: key.headers })).headers.get('access-pass-remaining')).toBe('9');
  });

  test('cover calls by their token, on any path and with any method, and are told of upstream', async () => {
    const project = await newProject();
    const { token, paid } = await buy(project);
    expect([paid.headers.get('access-pass-remaining'), await paid.text()]).toEqual(['9', 'paid for']);
    const answer = await fetch(`${urlOf(project)}/deep?er=1`, {
      method: 'POST',
      headers: { ...caller.key.headers, ...token },
      body: 'some',
    });
    expect([answer.status, answer.headers.get('access-pass-remaining')]).toEqual([200, '8']);
    const seen = fixture.upstream.received.at(-1);
    expect([seen?.method, seen?.path]).toEqual(['POST', '/deep?er=1']);
    expect(seen?.headers['x-tollhouse-payer']).toBe(caller.wallet.publicKey.toBase58());
    expect(seen?.headers['access-pass']).toBeUndefined();
  });

  test.each([
    ['answers 500', (res) => void res.writeHead(500).end('no'), 500],
    ['breaks off', (res) => void res.destroy(), 502],
  ] as readonly (readonly [string, Parameters<GatewayFixture['upstream']['respond']>[0], number])[])(
    'have nothing taken where the upstream %s, by the call that buys them neither',
    async (_what, respond, status) => {
      const project = await newProject([{ ...PACK, pass: { uses: 2 } }]);
      fixture.upstream.respond(respond);
      const payment = await buyFailing(project);
      expect(payment).toMatchObject({ status, left: '2', credit: ONE_USE });
      const again = await fetch(urlOf(project), { headers: { ...caller.key.headers, ...payment.token } });
      expect(again.headers.get('access-credit')).toBe(ONE_USE);
      expect(await passAnswer(again)).toMatchObject({ status, left: '2' });
      fixture.upstream.respond((res) => void res.end('paid for'));
      const left = [];
      for (let n = 0; n < 3; n += 1) left.push((await call(project, payment.token)).left);
      expect(left).toEqual(['1', '0', null]);
      expect((await call(project, payment.token)).code).toBe('pass_used_up');
    },
  );

  /** Buys a pass with a call that is not charged. */
  async function buyFailing(project: MadeProject) {
    const init = { headers: caller.key.headers };
    const payment = await signPayment(walletOf(caller), urlOf(project), { init });
    const answer = await fetch(urlOf(project), { headers: { ...caller.key.headers, ...payment.v2 } });
    const token = { 'access-pass': answer.headers.get('access-pass') ?? '' };
    return { token, credit: answer.headers.get('access-credit'), ...(await passAnswer(answer)) };
  }

  test('have their first use taken once, by a call that comes again since its failure could not be written', async () => {
    const project = await newProject([{ ...PACK, pass: { uses: 2 } }]);
    fixture.upstream.respond((res) => void res.writeHead(500).end());
    const outage = jest.spyOn(fixture.storage.gateway.book, 'finish');
    outage.mockRejectedValueOnce(new TollhouseError('store_unavailable', 'The database does not answer.'));
    const payment = await signPayment(walletOf(caller), urlOf(project), { init: { headers: caller.key.headers } });
    const send = async () =>
      passAnswer(await fetch(urlOf(project), { headers: { ...caller.key.headers, ...payment.v2 } }));
    expect(await send()).toMatchObject({ status: 503 });
    outage.mockRestore();
    fixture.upstream.respond((res) => void res.end('paid for'));
    expect(await send()).toMatchObject({ status: 200, left: '1' });
    let again = await send();
    // Its response has left, and is not written down yet.
    while (again.status === 409) again = await send();
    expect(again).toMatchObject({ status: 200, left: '1' });
    expect(await call(project, {})).toMatchObject({ status: 200, left: '0' });
    expect(await call(project, {})).toMatchObject({ status: 402, code: 'pass_used_up' });
  });

  test('take what a call costs of credit, and give it back where the upstream fails', async () => {
    const offer = { amount: '0.05', token: 'USDC', pass: { credit: true, cost: '0.02', for: '30d' } };
    const project = await newProject([offer]);
    const { token, paid } = await buy(project);
    expect(paid.headers.get('access-pass-remaining')).toBe('0.03 USDC');
    fixture.upstream.respond((res) => void res.writeHead(503).end());
    expect(await call(project, token)).toMatchObject({ status: 503, left: '0.03 USDC' });
    fixture.upstream.respond((res) => void res.end('paid for'));
    expect(await call(project, token)).toMatchObject({ status: 200, left: '0.01 USDC' });
    expect(await call(project, token)).toMatchObject({ status: 402, code: 'pass_used_up' });
  });

  test('stand beside the price of one call, which buys no more than that', async () => {
    const pricing = { amount: '0.01', token: 'USDC', offers: [PACK] };
    const project = await fixture.newProject({ pricing });
    const single = await buy(project);
    expect(single.paid.headers.get('access-pass')).toBeNull();
    const { body } = await fixture.client.call(project.slug, { headers: caller.key.headers });
    expect(body['detail']).toContain('Offered are 0.01 USDC for 1 request, or 0.05 USDC for 10 requests.');
  });

  test('are refused at another project, of another seller, revoked, and with a key for another project', async () => {
    const [project, other] = [await newProject(), await newProject()];
    const { token } = await buy(project);
    expect(await call(other, token)).toMatchObject({ status: 402, code: 'pass_of_another_route' });
    const partner = await fixture.client.signIn(fixture.partner);
    const theirs = await fixture.client.project(partner, {
      slug: `theirs-${other.slug}`,
      upstream: { url: fixture.upstream.origin },
      pricing: { offers: [PACK] },
    });
    expect(await call(theirs, token)).toMatchObject({ status: 402, code: 'pass_of_another_site' });
    const key = await fixture.client.key(fixture.asOwner, { project_id: other.id });
    const limited = { wallet: fixture.owner, key };
    expect(await call(project, token, limited)).toMatchObject({ status: 403, code: 'key_project_not_allowed' });
    const [pass] = await fixture.facilitator.passes.list(caller.wallet.publicKey.toBase58());
    await fixture.facilitator.passes.revoke(pass!.id);
    expect(await call(project, token)).toMatchObject({ status: 402, code: 'pass_revoked' });
  });

  test('of a group cover all projects of their seller that name it, and none of a stranger who pays him', async () => {
    const grouped = { ...PACK, pass: { uses: 10, group: 'weather' } };
    const [one, two] = [await newProject([grouped]), await newProject([grouped])];
    const owner = fixture.owner.publicKey.toBase58();
    const asStranger = await fixture.client.signIn(fixture.partner);
    const cheap = await fixture.client.project(asStranger, {
      slug: `cheap-${one.slug}`,
      upstream: { url: fixture.upstream.origin },
      pricing: { offers: [{ ...grouped, amount: '0.000001' }] },
      split: [{ recipient: owner, bps: 10_000 }],
    });
    const { token } = await buy(one);
    expect(await call(two, token)).toMatchObject({ status: 200, left: '8' });
    const cheat = await fixture.newCaller();
    const bought = await buy(cheap, cheat);
    expect(await call(two, bought.token, cheat)).toMatchObject({ status: 402, code: 'pass_of_another_site' });
  });

  test('cover calls still when they are no longer offered, and what is owed of a split is that of what was paid', async () => {
    const split = [
      { recipient: fixture.owner.publicKey.toBase58(), bps: 9_000 },
      { recipient: fixture.partner.publicKey.toBase58(), bps: 1_000 },
    ];
    const project = await newProject([PACK], { split });
    const { token } = await buy(project);
    const path = `/api/v1/projects/${project.id}`;
    const owed = async () => (await fixture.client.ask('GET', `${path}/payouts/owed`, undefined, fixture.asOwner)).body;
    await until(async () => JSON.stringify(await owed()).includes('"5000"'));
    expect(JSON.stringify(await owed())).toContain('"45000"');
    const pricing = { offers: null, amount: '0.01', token: 'USDC' };
    const changed = await fixture.client.ask('PATCH', path, { pricing }, fixture.asOwner);
    expect([changed.status, changed.text]).toEqual([200, changed.text]);
    expect(await call(project, token)).toMatchObject({ status: 200, left: '8' });
    const single = await buy(project, await fixture.newCaller());
    expect(single.paid.headers.get('access-pass')).toBeNull();
  });

  test('have one of two racing calls on two servers take the last use', async () => {
    const { storage, sandbox } = fixture;
    const facilitator = fixture.facilitatorWith({ storage });
    const gateway = createGateway({ facilitator, allowPrivateNetworks: ['127.0.0.0/8'] });
    const { counters } = storage;
    const identity = createIdentity({
      network: 'solana-devnet',
      jwtSecret: SECRET,
      counters,
      audience: 'gateway-fixture',
    });
    const router = createRouter({ facilitator, gateway, identity, counters, limits: false });
    const there = await fixture.serve((app) => app.use(router));
    const project = await newProject([{ ...PACK, pass: { uses: 3 } }]);
    const { token } = await buy(project);
    expect(sandbox.network).toBe('solana-devnet');
    const headers = { ...caller.key.headers, ...token };
    const all = await Promise.all(
      [fixture.client.url, there, fixture.client.url, there].map((origin) =>
        fetch(urlOf(project, origin), { headers }),
      ),
    );
    const statuses = (await Promise.all(all.map(passAnswer))).map(({ status, code }) => code ?? status);
    expect(statuses.map(String).sort()).toEqual(['200', '200', 'pass_used_up', 'pass_used_up']);
    await gateway.close();
  });

  test('are held against the budget of a key when they are bought, and not when they are used', async () => {
    const project = await newProject([{ ...PACK, pass: { uses: 3 } }]);
    const tight = await fixture.newCaller({ spending: { limit: '0.06', token: 'USDC', window: 'total' } });
    const { token } = await buy(project, tight);
    expect((await call(project, token, tight)).left).toBe('1');
    expect((await call(project, token, tight)).left).toBe('0');
    await expect(buy(project, tight)).rejects.toThrow('spending_limit_reached');
  });
});
