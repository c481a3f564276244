/**
 * What is warned of is warned of once in a process.
 * @jest-environment node
 */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { NextFunction, Request, RequestHandler, Response as ServerAnswer } from 'express';
import { createRouter } from '../../../src/http/create-router.js';
import { createIdentity } from '../../../src/identity/create-identity.js';
import { anyOf } from '../../../src/middleware/gate/any-of.js';
import { idempotency } from '../../../src/middleware/idempotency/idempotency.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { paywall } from '../../../src/middleware/paywall/paywall.js';
import { serviceKeyAuth } from '../../../src/middleware/service-key/service-key-auth.js';
import { readTier } from '../../../src/middleware/wallet/read-tier.js';
import { requireTier } from '../../../src/middleware/wallet/require-tier.js';
import { requireTokenBalance } from '../../../src/middleware/wallet/require-token-balance.js';
import { createMemoryIdempotencyStore } from '../../../src/storage/idempotency/memory-idempotency-store.js';
import { EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { signPayment } from '../../helpers/transactions/payments.js';

let fixture: TollFixture;
let faults: Error[] = [];
let warnings: string[] = [];

beforeAll(async () => {
  fixture = await openTollFixture();
  jest.spyOn(process, 'emitWarning').mockImplementation((warning) => void warnings.push(String(warning)));
});
afterAll(async () => {
  jest.restoreAllMocks();
  await fixture.close();
});
beforeEach(() => {
  faults = [];
  warnings = [];
});

const note = (error: Error, _req: Request, res: ServerAnswer, _next: NextFunction): void => {
  faults.push(error);
  res.status(Number(Reflect.get(error, 'status') ?? 500)).send('a fault');
};

/** Serves one route, whose faults are noted; answers its address. */
function serve(middleware: RequestHandler, express?: (typeof EXPRESSES)[number][1]): Promise<string> {
  return fixture.serve((app) => {
    app.all('/x', middleware, (_req, res) => res.send('served'));
    app.use(note);
  }, express);
}

async function paid(url: string): Promise<number> {
  const { v2 } = await signPayment(fixture, `${url}/x`);
  return (await fetch(`${url}/x`, { headers: v2 })).status;
}

describe.each(EXPRESSES)('what is given to Express without being called, %s', (_name, express) => {
  test.each<[string, unknown]>([
    ['requirePayment', requirePayment],
    ['requireTier', requireTier],
    ['requireTokenBalance', requireTokenBalance],
    ['serviceKeyAuth', serviceKeyAuth],
    ['readTier', readTier],
    ['idempotency', idempotency],
    ['anyOf', anyOf],
    ['paywall', paywall],
    ['createRouter', createRouter],
  ])('%s says so', async (name, factory) => {
    const url = await serve(factory as RequestHandler, express);
    expect((await fetch(`${url}/x`)).status).toBe(500);
    expect(faults.map(({ message }) => message)).toEqual([
      `${name}: it was called by Express with a request; call it and mount what it answers: ${name}({ … }) instead of ${name}`,
    ]);
  });
});

describe('a gate without Express', () => {
  const gates: readonly [string, () => RequestHandler][] = [
    ['requirePayment', () => requirePayment({ facilitator: fixture.facilitator, payTo: fixture.payTo, price: '$1' })],
    ['requireTier', () => requireTier({ facilitator: fixture.facilitator })],
    ['readTier', () => readTier({ facilitator: fixture.facilitator })],
    ['idempotency', () => idempotency({ store: createMemoryIdempotencyStore() })],
    ['paywall', () => paywall({ '*': '$1' }, { facilitator: fixture.facilitator, payTo: fixture.payTo })],
  ];

  /** What a middleware does with the bare request of `node:http`. */
  async function bare(middleware: RequestHandler, ...next: readonly ((error?: Error) => void)[]): Promise<string> {
    let said = 'nothing';
    const tell = (error: Error): void => {
      said = error.message;
    };
    const listener: RequestListener = (req, res) => {
      try {
        Reflect.apply(middleware, undefined, [req, res, ...next.map(() => tell)]);
      } catch (error) {
        said = (error as Error).message;
      }
      res.end();
    };
    const server = createServer(listener).listen(0, '127.0.0.1');
    await once(server, 'listening');
    await (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)).arrayBuffer();
    server.close();
    return said;
  }

  test.each(gates)('%s says that it needs one', async (name, make) => {
    expect(await bare(make())).toMatch(new RegExp(`^${name}: it was called without "next": use it in an Express app`));
    expect(await bare(make(), () => undefined)).toMatch(new RegExp(`^${name}: its request is none of Express`));
  });

  test.each(gates)('%s says so as well once it has seen one', async (name, make) => {
    const middleware = make();
    await fetch(`${await serve(middleware)}/x`);
    expect(await bare(middleware, () => undefined)).toMatch(new RegExp(`^${name}: its request is none of Express`));
  });
});

describe('a function of the app that throws', () => {
  const fail = (): never => {
    throw new Error('no such customer');
  };
  const reject = async (): Promise<never> => fail();

  test.each([
    ['price', { price: fail }],
    ['price', { price: reject }],
    ['payTo', { payTo: fail }],
    ['memo', { memo: reject }],
  ])('%s is named at the first request, and the stack is that of its own code', async (name, option) => {
    const { facilitator, payTo } = fixture;
    const url = await serve(requirePayment({ facilitator, payTo, price: '$0.01', ...option }));
    expect((await fetch(`${url}/x`)).status).toBe(500);
    expect(faults[0]?.message).toBe(`requirePayment: the function "${name}" threw: no such customer`);
    expect(faults[0]?.stack).toMatch(/the function ".*" threw: no such customer\n\s+at fail /);
  });

  test.each([
    ['after', fail, 'the function "charge" threw: no such customer'],
    ['after', async () => true, 'the function "charge" must answer true or false, and answers a promise'],
  ])('settle %p: charge is named, and nothing is charged', async (settle, charge, says) => {
    const { facilitator, payTo, sandbox } = fixture;
    const mint = facilitator.tokens[0]?.mint ?? '';
    const before = sandbox.tokenBalance(payTo, mint);
    const options = { facilitator, payTo, price: '$0.01', settle, charge };
    const url = await serve(Reflect.apply(requirePayment, undefined, [options]));
    expect(await paid(url)).toBe(500);
    expect(faults[0]?.message).toContain(`requirePayment: ${says}`);
    expect(sandbox.tokenBalance(payTo, mint)).toBe(before);
  });

  test('an error with a status of its own is left as it is', async () => {
    const { facilitator, payTo } = fixture;
    const gone = Object.assign(new Error('no such thing'), { status: 404 });
    const price = () => {
      throw gone;
    };
    const url = await serve(requirePayment({ facilitator, payTo, price }));
    expect((await fetch(`${url}/x`)).status).toBe(404);
    expect(faults).toEqual([gone]);
  });

  test('of a route map names the route', async () => {
    const { facilitator, payTo } = fixture;
    const url = await serve(paywall({ 'GET /x': fail }, { facilitator, payTo }));
    expect((await fetch(`${url}/x`)).status).toBe(500);
    expect(faults[0]?.message).toBe('paywall: route "GET /x": the function "price" threw: no such customer');
  });

  test('of idempotency is named', async () => {
    const url = await serve(idempotency({ store: createMemoryIdempotencyStore(), scopeOf: fail }));
    const headers = { 'idempotency-key': 'a key of sixteen characters'.replaceAll(' ', '-') };
    expect((await fetch(`${url}/x`, { method: 'POST', headers })).status).toBe(500);
    expect(faults[0]?.message).toBe('idempotency: the function "scopeOf" threw: no such customer');
  });
});

test('a memo may be promised', async () => {
  const { facilitator, payTo } = fixture;
  const url = await serve(requirePayment({ facilitator, payTo, price: '$0.01', memo: async () => 'order 7' }));
  expect(await paid(url)).toBe(200);
});

describe('the operator is warned once', () => {
  test('of an access token at a gate that takes none, and the client is told no more than that', async () => {
    const { facilitator } = fixture;
    const url = await serve(requireTier({ facilitator }));
    for (const _ of [1, 2]) {
      const answer = await fetch(`${url}/x`, { headers: { authorization: 'Bearer a.b.c' } });
      const { detail } = (await answer.json()) as { detail: string };
      expect([answer.status, detail]).toEqual([
        401,
        expect.stringMatching(/^No access tokens are taken here\. Prove your wallet/),
      ]);
    }
    const identity = createIdentity({
      network: facilitator.network,
      jwtSecret: 'a secret of thirty-two bytes or more',
    });
    const with_ = await serve(requireTier({ facilitator, identity }));
    const refused = await fetch(`${with_}/x`, { headers: { authorization: 'Bearer a.b.c' } });
    expect(((await refused.json()) as { code: string }).code).toBe('invalid_access_token');
    expect(warnings).toEqual([
      expect.stringContaining('give it to the gate: requireTier({ facilitator, identity, … })'),
    ]);
  });

  test('of a gate for wallets that stands behind one for payments, and not of one that stands before', async () => {
    const { facilitator, payTo } = fixture;
    const [pay, wallet] = [requirePayment({ facilitator, payTo, price: '$0.01' }), requireTier({ facilitator })];
    const url = await fixture.serve((app) => {
      app.get('/x', wallet, pay, (_req, res) => res.send('served'));
      app.get('/turned', pay, wallet, (_req, res) => res.send('served'));
    });
    const statusAt = async (path: string) => {
      const { v2 } = await signPayment(fixture, url + path);
      return (await fetch(url + path, { headers: v2 })).status;
    };
    expect(await statusAt('/x')).toBe(402);
    expect(warnings).toEqual([]);
    expect([await statusAt('/turned'), await statusAt('/turned')]).toEqual([402, 402]);
    expect(warnings).toEqual([expect.stringContaining('requireTier stands behind a payment gate')]);
  });
});
