import type { RequestHandler } from 'express';
import { anyOf } from '../../../src/middleware/gate/any-of.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { paywall } from '../../../src/middleware/paywall/paywall.js';
import { EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { signPayment } from '../../helpers/transactions/payments.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
/** Below each a response that is written in pieces, and one that is written at once. */
const GATES = ['/after', '/before', '/pass', '/any', '/all', '/walled'];

describe.each(EXPRESSES)('a HEAD of a paid route, %s', (_name, express) => {
  let toll: TollFixture;
  let url: string;
  const runs: string[] = [];

  beforeAll(async () => {
    toll = await openTollFixture();
    const { facilitator, payTo } = toll;
    const options = { facilitator, payTo, price: '$0.01' };
    const stream: RequestHandler = (req, res) => {
      runs.push(req.method);
      res.set('Content-Type', 'text/plain').write('one,');
      setImmediate(() => res.end('two'));
    };
    const whole: RequestHandler = (req, res) => {
      runs.push(req.method);
      res.send('one,two');
    };
    url = await toll.serve((app) => {
      const gates = {
        '/after': requirePayment(options),
        '/before': requirePayment({ ...options, settle: 'before' }),
        '/pass': requirePayment({ ...options, pass: { uses: 3 } }),
        '/any': anyOf(requirePayment({ ...options, price: '$0.02' }), requirePayment(options)),
        '/walled': paywall({ 'GET /walled/*': '$0.01' }, { facilitator, payTo }),
      };
      for (const [path, gate] of Object.entries(gates)) {
        app.get(`${path}/stream`, gate, stream).get(`${path}/whole`, gate, whole);
      }
      app.all('/all/stream', requirePayment(options), stream).all('/all/whole', requirePayment(options), whole);
    }, express);
  });
  afterAll(() => toll.close());
  beforeEach(() => {
    runs.length = 0;
  });

  const balance = () => toll.sandbox.tokenBalance(toll.payer.publicKey.toBase58(), USDC);

  const paths = GATES.flatMap((gate) => [`${gate}/stream`, `${gate}/whole`]);

  test.each(paths)('uses no payment up, and the GET has it all the same: %s', async (path) => {
    const { v2, v1 } = await signPayment(toll, url + path, { init: { method: 'HEAD' } });
    const before = balance();
    for (const headers of [v2, v1, v2]) {
      const head = await fetch(url + path, { method: 'HEAD', headers });
      expect([head.status, head.headers.get('payment-response'), await head.text()]).toEqual([402, null, '']);
      expect(head.headers.get('payment-required')).not.toBeNull();
    }
    expect([balance(), runs]).toEqual([before, []]);
    const got = await fetch(url + path, { headers: v2 });
    expect([got.status, await got.text()]).toEqual([200, 'one,two']);
    const after = await fetch(url + path, { method: 'HEAD', headers: v2 });
    expect([after.status, runs]).toEqual([402, ['GET']]);
  });
});
