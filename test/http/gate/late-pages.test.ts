import { once } from 'node:events';
import type { Response as ServerAnswer } from 'express';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { answersIn, ask, collect, openSocket, rawRequest } from '../../helpers/http/raw-http.js';
import { createGate } from '../../helpers/transactions/payments.js';

const FORM = ['Accept: text/html', 'Content-Type: application/x-www-form-urlencoded'];

describe.each(EXPRESSES)('a page that has to wait, %s', (_name, express) => {
  let fixture: TollFixture;
  let url: string;
  let arrived = createGate();
  /** As a time-out of the app does it. */
  let tooSlow = (): void => undefined;
  let rendering = createGate();

  beforeAll(async () => {
    fixture = await openTollFixture();
    const { facilitator, payTo } = fixture;
    const render = async () => {
      await rendering.opened;
      return '<p>own</p>';
    };
    url = await fixture.serve((app) => {
      app.use((_req, res: ServerAnswer, next) => {
        tooSlow = () => void res.status(503).send('too slow');
        next();
        arrived.open();
      });
      const options = { facilitator, payTo, price: '$0.01' };
      app.all('/report', requirePayment(options), (_req, res) => res.send('delivered'));
      app.all('/own', requirePayment({ ...options, page: { render } }), (_req, res) => res.send('delivered'));
    }, express);
  });
  // A promise that rejects unheard fails the test that runs.
  afterAll(() => fixture.close());
  beforeEach(() => {
    arrived = createGate();
    rendering = createGate();
  });

  test('for a form is not sent once the app has answered', async () => {
    const socket = openSocket(url);
    const heard = collect(socket);
    socket.write(rawRequest('POST /report', [...FORM, 'Content-Length: 10', 'Connection: close'], 'abc'));
    await arrived.opened;
    tooSlow();
    socket.write('defghij');
    const [answer, ...more] = answersIn(await heard);
    expect([answer?.status, answer?.body, more]).toEqual([503, 'too slow', []]);
    expect((await fetch(`${url}/report`)).status).toBe(402);
  });

  test('for its seller who writes it is not sent once the app has answered', async () => {
    const asked = ask(url, 'GET /own', FORM);
    await arrived.opened;
    tooSlow();
    const { status, body } = await asked;
    rendering.open();
    expect([status, body]).toEqual([503, 'too slow']);
    expect((await fetch(`${url}/own`, { headers: { accept: 'text/html' } })).status).toBe(402);
  });

  test('comes without the form where that is longer than comes back, though it never ends', async () => {
    const socket = openSocket(url);
    socket.write(rawRequest('POST /report', [...FORM, 'Content-Length: 65537'], 'abc'));
    const [head] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    expect(head.toString()).toMatch(/^HTTP\/1\.1 402 /);
  });

  test('is ours where what its seller threw cannot be told', async () => {
    const silent = jest.spyOn(process, 'emitWarning').mockImplementation();
    const page = {
      render: () => {
        throw Object.create(null);
      },
    };
    const { facilitator, payTo } = fixture;
    const own = await fixture.serve((app) => {
      app.get('/report', requirePayment({ facilitator, payTo, price: '$0.01', page }));
    }, express);
    const answer = await fetch(`${own}/report`, { headers: { accept: 'text/html' } });
    silent.mockRestore();
    expect([answer.status, answer.headers.get('content-type')]).toEqual([402, 'text/html; charset=utf-8']);
  });
});
