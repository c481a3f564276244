import type { Express, RequestHandler } from 'express';
import { createRouter } from '../../../src/http/create-router.js';
import { crossOrigin } from '../../../src/middleware/gate/cross-origin.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { paywall } from '../../../src/middleware/paywall/paywall.js';
import { EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { signPayment } from '../../helpers/transactions/payments.js';

const SHOP = 'https://shop.example';
const ADMIN = 'https://admin.example';
const EVIL = 'https://evil.example';
const VARY = 'Origin';

/** What a response says of origins. */
interface Said {
  readonly origin: string | null;
  readonly credentials: string | null;
  readonly vary: boolean;
}

const NOTHING: Said = { origin: null, credentials: null, vary: false };
const REFUSED: Said = { ...NOTHING, vary: true };

function saidBy({ headers }: Response): Said {
  return {
    origin: headers.get('access-control-allow-origin'),
    credentials: headers.get('access-control-allow-credentials'),
    vary: (headers.get('vary') ?? '').split(', ').includes(VARY),
  };
}

/** An app's own policy, as the middleware of the package "cors" has it for a list of origins. */
function ownPolicy(...origins: string[]): RequestHandler {
  return (req, res, next) => {
    const { origin } = req.headers;
    if (origin !== undefined && origins.includes(origin)) res.set('Access-Control-Allow-Origin', origin);
    res.vary(VARY);
    if (req.method !== 'OPTIONS') return next();
    res.set('Access-Control-Allow-Methods', 'GET').status(204).end();
  };
}

const serveReport: RequestHandler = (_req, res) => void res.send('paid for');

describe.each(EXPRESSES)('what an app says to pages of other origins, %s', (_name, express) => {
  let fixture: TollFixture;

  beforeAll(async () => {
    fixture = await openTollFixture();
  });
  afterAll(() => fixture.close());

  const gate = (more: object = {}) =>
    requirePayment({ facilitator: fixture.facilitator, payTo: fixture.payTo, price: '$0.01', ...more });
  const serve = (configure: (app: Express) => void) => fixture.serve(configure, express);

  function preflight(url: string, origin: string, asked: Record<string, string> = {}): Promise<Response> {
    const headers = { origin, 'access-control-request-method': 'GET', ...asked };
    return fetch(url, { method: 'OPTIONS', headers });
  }

  /** Of the preflight, the 402 and the paid response, in this order. */
  async function said(url: string, origin: string): Promise<readonly Said[]> {
    const { v2 } = await signPayment(fixture, url);
    const answers = [
      await preflight(url, origin),
      await fetch(url, { headers: { origin } }),
      await fetch(url, { headers: { origin, ...v2 } }),
    ];
    expect(answers.slice(1).map(({ status }) => status)).toEqual([402, 200]);
    return answers.map(saidBy);
  }

  const mounts: [string, (app: Express) => void][] = [
    ['app.get', (app) => void app.get('/report', gate(), serveReport)],
    ['app.all', (app) => void app.all('/report', gate(), serveReport)],
    ['app.use', (app) => void app.use('/report', gate(), serveReport)],
    ['app.get, money first', (app) => void app.get('/report', gate({ settle: 'before' }), serveReport)],
    [
      'paywall',
      (app) => {
        const { facilitator, payTo } = fixture;
        app.use(paywall({ 'GET /report': '$0.01' }, { facilitator, payTo }));
        app.get('/report', serveReport);
      },
    ],
  ];

  test.each(mounts)('is the same in the preflight, the 402 and the paid response of %s', async (_, mount) => {
    const [everyone, named] = await Promise.all([
      serve((app) => {
        app.use(crossOrigin());
        mount(app);
      }),
      serve((app) => {
        app.use(crossOrigin({ origins: [SHOP, ADMIN], credentials: true }));
        mount(app);
      }),
    ]);
    const all = <T>(one: T) => [one, one, one];
    expect(await said(`${everyone}/report`, SHOP)).toEqual(all({ ...NOTHING, origin: '*' }));
    expect(await said(`${named}/report`, SHOP)).toEqual(all({ origin: SHOP, credentials: 'true', vary: true }));
    expect(await said(`${named}/report`, EVIL)).toEqual(all(REFUSED));
  });

  test.each(mounts)('is nothing where nothing is said, in none of the three of %s', async (_, mount) => {
    const url = await serve(mount);
    expect(await said(`${url}/report`, SHOP)).toEqual([NOTHING, NOTHING, NOTHING]);
  });

  test('is said in a preflight together with every header that the page asks for, and that is one', async () => {
    const url = await serve((app) => {
      app.use(crossOrigin());
      app.get('/report', gate(), serveReport);
    });
    const answer = await preflight(`${url}/report`, SHOP, {
      'access-control-request-headers': 'x-mine, payment-signature, not a name, x-also',
    });
    expect([answer.status, await answer.text()]).toEqual([204, '']);
    const allowed = (answer.headers.get('access-control-allow-headers') ?? '').toLowerCase().split(', ');
    expect(allowed).toEqual(expect.arrayContaining(['payment-signature', 'sign-in-with-x', 'x-mine', 'x-also']));
    expect(allowed.filter((name) => name === 'payment-signature' || name.includes(' '))).toEqual(['payment-signature']);
  });

  test('is the policy of the app where that stands before the gate, or before crossOrigin', async () => {
    for (const more of [[], [crossOrigin()], [crossOrigin({ origins: [EVIL], credentials: true })]]) {
      const url = await serve((app) => {
        app.use(ownPolicy(SHOP), ...more);
        app.get('/report', gate(), serveReport);
      });
      const granted = { ...REFUSED, origin: SHOP };
      expect(await said(`${url}/report`, SHOP)).toEqual([granted, granted, granted]);
      expect(await said(`${url}/report`, EVIL)).toEqual([REFUSED, REFUSED, REFUSED]);
    }
  });

  test('completes the preflight of an app that has only said its origin, and leaves alone what it has said', async () => {
    const url = await serve((app) => {
      app.use((_req, res, next) => {
        res.set({ 'Access-Control-Allow-Origin': SHOP, 'Access-Control-Allow-Methods': 'GET' });
        next();
      });
      app.all('/report', gate(), serveReport);
    });
    const answer = await preflight(`${url}/report`, EVIL);
    expect([answer.status, saidBy(answer).origin]).toEqual([204, SHOP]);
    expect(answer.headers.get('access-control-allow-methods')).toBe('GET');
    expect(answer.headers.get('access-control-allow-headers')).toContain('PAYMENT-SIGNATURE');
  });

  test('is not widened where a stricter policy stands behind the gate', async () => {
    for (const before of [[], [crossOrigin()], [crossOrigin({ origins: [EVIL, ADMIN], credentials: true })]]) {
      const url = await serve((app) => {
        if (before.length > 0) app.use(before);
        app.get('/report', gate(), ownPolicy(ADMIN), serveReport);
      });
      const { v2 } = await signPayment(fixture, `${url}/report`);
      expect(saidBy(await fetch(`${url}/report`, { headers: { origin: EVIL, ...v2 } }))).toEqual(REFUSED);
      const admin = await signPayment(fixture, `${url}/report`);
      const answer = await fetch(`${url}/report`, { headers: { origin: ADMIN, ...admin.v2 } });
      expect([answer.status, saidBy(answer)]).toEqual([200, { ...REFUSED, origin: ADMIN }]);
    }
    const alone = await serve((app) => void app.all('/report', gate(), ownPolicy(ADMIN), serveReport));
    expect(saidBy(await preflight(`${alone}/report`, EVIL))).toEqual(NOTHING);
  });

  test('holds for the service too: to named origins where crossOrigin stands before it, else to all', async () => {
    const { facilitator } = fixture;
    const [open, named, own] = await Promise.all([
      serve((app) => void app.use(createRouter({ facilitator }))),
      serve((app) => void app.use(crossOrigin({ origins: [SHOP] }), createRouter({ facilitator }))),
      serve((app) => void app.use(ownPolicy(SHOP), createRouter({ facilitator }))),
    ]);
    const ofSupported = async (url: string, origin: string) =>
      [await preflight(`${url}/supported`, origin), await fetch(`${url}/supported`, { headers: { origin } })].map(
        saidBy,
      );
    const toAll = { ...NOTHING, origin: '*' };
    expect(await ofSupported(open, EVIL)).toEqual([toAll, toAll]);
    for (const url of [named, own]) {
      const granted = { ...REFUSED, origin: SHOP };
      expect(await ofSupported(url, SHOP)).toEqual([granted, granted]);
      expect(await ofSupported(url, EVIL)).toEqual([REFUSED, REFUSED]);
    }
  });
});

describe('crossOrigin', () => {
  test.each<[unknown, string]>([
    [{ origin: SHOP }, 'unknown option "origin"; did you mean "origins"?'],
    [{ origins: SHOP }, 'option "origins" must be "*", or a list of origins such as https://shop.example'],
    [{ origins: [] }, 'option "origins" must be a list of at least one origin'],
    [{ origins: [`${SHOP}/`] }, 'option "origins.0" must be an origin such as https://shop.example'],
    [{ origins: ['https://Shop.example'] }, 'option "origins.0" must be an origin'],
    [{ origins: ['shop.example'] }, 'option "origins.0" must be an origin'],
    [{ origins: [SHOP, 'null'] }, 'option "origins.1" must be an origin'],
    [
      { origins: ['https://*.shop.example'] },
      'option "origins.0" must be one origin and no pattern: list each by its name',
    ],
    [{ origins: ['https://user@shop.example'] }, 'option "origins.0" must be an origin'],
    [{ credentials: true }, 'option "credentials" must be false where "origins" is "*"'],
    [{ origins: '*', credentials: 'yes' }, 'option "credentials" must be true or false'],
  ])('refuses %j, and says what was meant', (options, message) => {
    expect(() => crossOrigin(options as object)).toThrow(message);
  });

  test('takes origins with a port, of apps, and none at all', () => {
    for (const options of [undefined, {}, { origins: ['http://localhost:5173', 'capacitor://localhost'] }]) {
      expect(() => crossOrigin(options as object)).not.toThrow();
    }
  });
});
