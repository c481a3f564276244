import type { MadeProject } from '../../helpers/fixtures/gateway-client.js';
import { type Caller, type GatewayFixture, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { buyPass } from '../../helpers/http/passes.js';
import { DAILY_DATABASES } from '../../helpers/storage/both-databases.js';
import { signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

type Headers = Readonly<Record<string, string>>;

describe.each(DAILY_DATABASES)('a caller has the last of a response when his call is written, on %s', (...database) => {
  const opened = useGatewayFixture(database, { keepsPasses: true, limitScale: 100 });
  let fixture: GatewayFixture;
  let caller: Caller;
  beforeAll(async () => {
    fixture = opened();
    caller = await fixture.newCaller();
  });
  beforeEach(() => fixture.upstream.respond((res) => void res.end('sold')));

  const urlOf = ({ slug }: MadeProject) => `${fixture.client.url}/v1/${slug}`;
  const call = (project: MadeProject, headers: Headers = {}) =>
    fixture.client.call(project.slug, { headers: { ...caller.key.headers, ...headers } });

  /** Makes a call while nothing can be written of calls, and tells whether it was over before that could be done again. */
  async function endsUnwritten(made: () => Promise<{ readonly status: number; readonly text: string }>) {
    const { book } = fixture.storage.gateway;
    const { finish } = book;
    let isAsked = false;
    let goOn: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    Object.assign(book, {
      async finish(...args: Parameters<typeof finish>) {
        isAsked = true;
        await held;
        return finish(...args);
      },
    });
    try {
      let isOver = false;
      const calling = made().finally(() => {
        isOver = true;
      });
      await until(() => isAsked);
      // Whatever has left by then is here.
      for (let asked = 0; asked < 3; asked += 1) await fixture.client.ask('GET', '/supported');
      const wasOver = isOver;
      goOn();
      const { status, text } = await calling;
      expect([status, text.length > 0]).toEqual([200, true]);
      return wasOver;
    } finally {
      Object.assign(book, { finish });
    }
  }

  test.each([
    ['short', 'sold'],
    ['longer than is written with it', 'x'.repeat(200_000)],
  ])('for one that is paid, with a response that is %s', async (_how, text) => {
    fixture.upstream.respond((res) => void res.end(text));
    const project = await fixture.newProject();
    const { v2 } = await signPayment({ payer: caller.wallet, sandbox: fixture.sandbox }, urlOf(project), {
      init: { headers: caller.key.headers },
    });
    expect(await endsUnwritten(() => call(project, v2))).toBe(false);
  });

  test('for one that credit pays', async () => {
    const project = await fixture.newProject();
    const paid = await fixture.pay({ project, caller });
    fixture.upstream.respond((res) => void res.writeHead(500).end('sorry'));
    expect((await call(project, paid.header)).status).toBe(500);
    fixture.upstream.respond((res) => void res.end('sold'));
    expect(await endsUnwritten(() => call(project))).toBe(false);
  });

  test('for one that a pass covers', async () => {
    const pricing = { offers: [{ amount: '0.05', token: 'USDC', pass: { uses: 100 } }] };
    const project = await fixture.newProject({ pricing });
    const payer = { sandbox: fixture.sandbox, payer: caller.wallet };
    const { token } = await buyPass(payer, urlOf(project), { headers: caller.key.headers });
    expect(await endsUnwritten(() => call(project, token as Headers))).toBe(false);
  });

  test('for one that is free', async () => {
    const project = await fixture.newProject({ routes: [{ path: '/**', free: true }] });
    expect(await endsUnwritten(() => call(project))).toBe(false);
  });
});
