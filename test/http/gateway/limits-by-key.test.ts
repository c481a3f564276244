import type { ClientResponse, MadeKey, MadeProject } from '../../helpers/fixtures/gateway-client.js';
import { type GatewayFixture, openGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import { DAILY_DATABASES } from '../../helpers/storage/both-databases.js';
import { signPayment } from '../../helpers/transactions/payments.js';

/** What a key may do of everything in a second, unless it says otherwise. */
const PER_SECOND = 25;
/** A second, and a moment: then the next one has begun. */
const SECOND_MS = 1_001;
/** No transaction has it. */
const JUNK = { 'x-service-payment': Buffer.alloc(64, 7).toString('base64') };

describe.each(DAILY_DATABASES)('limits of those who show a key, from one address, on %s', (_name, openDatabase) => {
  let fixture: GatewayFixture;
  let key: MadeKey;
  let stopDatabase: () => Promise<void>;

  beforeAll(async () => {
    const { url, stop } = await openDatabase();
    stopDatabase = stop;
    // The clock stands, so that a second lasts as long as its test wants.
    const start = Date.now();
    fixture = await openGatewayFixture(url, {}, { limits: {}, clock: () => start });
    key = await fixture.client.key(await fixture.client.signIn(fixture.payer));
  });
  afterAll(async () => {
    await fixture?.close();
    await stopDatabase?.();
  });
  beforeEach(() => fixture.advance(61 * SECOND_MS));

  const all = (times: number, status: number): number[] => Array<number>(times).fill(status);
  const codeOf = ({ status, body }: ClientResponse) => [status, body['code']];
  const strangersAsk = (): Promise<ClientResponse> => fixture.client.ask('GET', '/api/v1/marketplace');

  function call(headers: ProofHeaders, project: MadeProject = fixture.project, by = key): Promise<ClientResponse> {
    return fixture.client.call(project.slug, { headers: { ...by.headers, ...headers } });
  }

  async function times<T>(count: number, act: (n: number) => Promise<T>): Promise<T[]> {
    const made: T[] = [];
    for (let n = 0; n < count; n += 1) made.push(await act(n));
    return made;
  }

  test('25 whole calls a second: created, settled and shown; the next is 429, and strangers have their own limit', async () => {
    const payments = await times(PER_SECOND, () => fixture.pay({ caller: { wallet: fixture.payer, key } }));
    const answers = await times(PER_SECOND, (n) => call(payments[n]!.header));
    expect(answers.map(({ status }) => status)).toEqual(all(PER_SECOND, 200));
    const asked = { amount: '1', token: 'USDC', recipient: fixture.owner.publicKey.toBase58() };
    const late = await fixture.client.ask('POST', '/create-payment', asked, key.headers);
    expect(codeOf(late)).toEqual([429, 'rate_limited']);
    expect(late.headers.get('retry-after')).toBe('1');
    expect(codeOf(await call(payments[0]!.header))).toEqual([429, 'rate_limited']);
    const strangers = await times(61, strangersAsk);
    expect(strangers.map(({ status }) => status)).toEqual([...all(60, 200), 429]);
  });

  test('25 whole calls a second through x402: asked for the price, and paid', async () => {
    const { client, sandbox, payer, project } = fixture;
    const url = `${client.url}/v1/${project.slug}`;
    const sign = () => signPayment({ sandbox, payer }, url, { init: { headers: key.headers } });
    const payments = await times(PER_SECOND, sign);
    const answers = await times(PER_SECOND, (n) => call(payments[n]!.v2));
    expect(answers.map(({ status }) => status)).toEqual(all(PER_SECOND, 200));
    const late = await call({});
    expect(codeOf(late)).toEqual([429, 'rate_limited']);
    expect(late.headers.get('ratelimit')).toBe('"key"; r=0; t=1');
  });

  test('200 calls in a minute get their 402; without a key an address gets 120 refusals', async () => {
    const answers = await times(200, async (n) => {
      if (n % PER_SECOND === 0) fixture.advance(SECOND_MS);
      return call({});
    });
    expect(answers.map(({ status }) => status)).toEqual(all(200, 402));
    const refused = await times(121, () => fixture.client.call(fixture.project.slug));
    expect(refused.map(({ status }) => status)).toEqual([...all(120, 401), 429]);
    fixture.advance(SECOND_MS);
    expect((await call({})).status).toBe(402);
  });

  test('a key that is wrong is none: it counts by its address', async () => {
    const { key: of } = { key };
    const wrong = { ...of.headers, 'x-service-key': `${of.headers['x-service-key']}x` };
    const first = await times(9, () => fixture.client.ask('GET', '/api/v1/marketplace', undefined, wrong));
    expect(first.map(({ status }) => status)).toEqual(all(9, 200));
    const strangers = await times(52, strangersAsk);
    expect(strangers.map(({ status }) => status)).toEqual([...all(51, 200), 429]);
  });

  test('payments that are none use up nothing of a project, and paid calls of others find all of it', async () => {
    const project = await fixture.newProject({ limits: { per_second: 5, concurrent: 10 } });
    const attacker = await fixture.newCaller();
    const payments = await times(6, () => fixture.pay({ project, caller: { wallet: fixture.payer, key } }));
    fixture.advance(SECOND_MS);
    const junk = await Promise.all(Array.from({ length: 40 }, () => call(JUNK, project, attacker.key)));
    expect(new Set(junk.map(({ body }) => body['code']))).toEqual(new Set(['payment_not_confirmed']));
    const paid = await times(5, (n) => call(payments[n]!.header, project));
    expect(paid.map(({ status }) => status)).toEqual(all(5, 200));
    expect(codeOf(await call(payments[5]!.header, project))).toEqual([429, 'rate_limited']);
    fixture.advance(SECOND_MS);
    expect((await call(payments[5]!.header, project)).status).toBe(200);
  });
});
