import { request } from 'node:http';
import type { MadeProject } from '../../helpers/fixtures/gateway-client.js';
import { type GatewayFixture, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import type { Respond } from '../../helpers/http/webhook-receiver.js';
import { DAILY_DATABASES } from '../../helpers/storage/both-databases.js';
import { until } from '../../helpers/until.js';

const answers: Respond = (res) => void res.end('paid for');
const MINUTE_MS = 60_000;

describe.each(DAILY_DATABASES)('a call that its caller or its upstream breaks off, on %s', (name, openDatabase) => {
  const opened = useGatewayFixture([name, openDatabase]);
  let fixture: GatewayFixture;
  let project: MadeProject;

  beforeAll(() => {
    fixture = opened();
  });
  beforeEach(async () => {
    fixture.upstream.respond(answers);
    project = await fixture.newProject();
  });

  const urlOf = ({ slug }: MadeProject) => `${fixture.client.url}/v1/${slug}`;
  const call = (headers: ProofHeaders) =>
    fixture.client.call(project.slug, { headers: { ...fixture.key.headers, ...headers } });
  const paidCall = async () => ({ ...fixture.key.headers, ...(await fixture.pay({ project })).header });

  /** Calls, and hangs up when the upstream has the request. */
  async function hangUp(headers: ProofHeaders): Promise<void> {
    const before = fixture.hits();
    fixture.upstream.respond(() => undefined);
    const sent = request(urlOf(project), { headers: { ...headers }, agent: false }).on('error', () => undefined);
    sent.end();
    await until(() => fixture.hits() > before);
    sent.destroy();
  }

  const creditOf = async () => {
    const asked = `/api/v1/spending?project=${project.id}`;
    const { body } = await fixture.client.ask('GET', asked, undefined, await fixture.client.signIn(fixture.payer));
    return body['credit'] as readonly unknown[];
  };

  test('is credit when its caller hangs up before the response, and is paid when he does so again', async () => {
    await hangUp(await paidCall());
    await until(async () => (await creditOf()).length === 1);

    await hangUp(fixture.key.headers);
    await until(async () => (await creditOf()).length === 0);
    fixture.upstream.respond(answers);
    expect((await call({})).status).toBe(402);
  });

  test('is credit again where the upstream fails on credit, however often', async () => {
    const headers = await paidCall();
    fixture.upstream.respond((res) => void res.writeHead(500).end());
    expect((await call(headers)).status).toBe(500);
    for (let n = 0; n < 3; n += 1) expect((await call({})).status).toBe(500);
    fixture.upstream.respond(answers);
    expect((await call({})).status).toBe(200);
    expect((await call({})).status).toBe(402);
  });

  test('is credit before its caller learns that the upstream has broken off', async () => {
    const headers = await paidCall();
    for (let n = 0; n < 5; n += 1) {
      fixture.upstream.respond((res) => {
        res.writeHead(200, { 'content-length': '100' });
        res.write('half of it');
        setImmediate(() => res.destroy());
      });
      await expect(call(n === 0 ? headers : {})).rejects.toThrow();
    }
    fixture.upstream.respond(answers);
    expect((await call({})).status).toBe(200);
  });
});

describe('one wallet', () => {
  const fixture = useGatewayFixture();

  test('takes half of the calls that a project takes at once; others find the rest', async () => {
    const project = await fixture().newProject({ limits: { concurrent: 2 } });
    const [one, other] = [await fixture().newCaller(), await fixture().newCaller()];
    const pay = async (caller: typeof one) => {
      const { header } = await fixture().pay({ project, caller });
      return { headers: { ...caller.key.headers, ...header } };
    };
    const [first, second, third] = [await pay(one), await pay(one), await pay(other)];
    const held: (() => void)[] = [];
    fixture().upstream.respond((res) => void held.push(() => res.end('paid for')));
    const { client } = fixture();

    const slow = client.call(project.slug, first);
    await until(() => held.length === 1);
    const refused = await client.call(project.slug, second);
    expect([refused.status, refused.body['code']]).toEqual([429, 'rate_limited']);
    const others = client.call(project.slug, third);
    await until(() => held.length === 2);
    for (const end of held) end();
    expect([(await slow).status, (await others).status]).toEqual([200, 200]);
    fixture().upstream.respond(answers);
    expect((await client.call(project.slug, second)).status).toBe(200);
  });
});

describe('a payment request with a key that has a budget', () => {
  const fixture = useGatewayFixture();
  const PRICE = '0.012347';

  async function budgetOf(by: ProofHeaders) {
    const { body } = await fixture().client.ask('GET', '/api/v1/spending', undefined, by);
    const [{ used, held, left }] = body['budgets'] as readonly [Record<string, string>];
    return [used, held, left];
  }

  test('is held back until two minutes after it has expired, and its owner is told so', async () => {
    const caller = await fixture().newCaller({ spending: { limit: PRICE, token: 'USDC', window: 'total' } });
    const by = await fixture().client.signIn(caller.wallet);
    const make = () =>
      fixture().client.ask(
        'POST',
        '/create-payment',
        { project: fixture().project.slug, expires_in: 60 },
        caller.key.headers,
      );

    expect((await make()).status).toBe(200);
    expect(await budgetOf(by)).toEqual(['0', PRICE, '0']);
    expect((await make()).body['code']).toBe('spending_limit_reached');
    fixture().advance(4 * MINUTE_MS);
    expect(await budgetOf(by)).toEqual(['0', '0', PRICE]);
    expect((await make()).status).toBe(200);
  });

  test('counts as held when it is settled and not called, and buys its call an hour later', async () => {
    const caller = await fixture().newCaller({ spending: { limit: PRICE, token: 'USDC', window: 'total' } });
    const by = await fixture().client.signIn(caller.wallet);
    const { header } = await fixture().pay({ caller });
    fixture().advance(60 * MINUTE_MS);
    expect(await budgetOf(await fixture().client.signIn(caller.wallet))).toEqual(['0', PRICE, '0']);
    expect(by).toBeDefined();

    const shown = { headers: { ...caller.key.headers, ...header } };
    const served = await fixture().client.call(fixture().project.slug, shown);
    expect([served.status, served.text]).toEqual([200, 'paid for']);
    const stranger = await fixture().newCaller();
    const stolen = { headers: { ...stranger.key.headers, ...header } };
    expect((await fixture().client.call(fixture().project.slug, stolen)).status).toBe(402);
  });
});
