import type { Response } from 'express';
import { beforeHead } from '../../../../src/middleware/response/before-head.js';
import { type AppServer, serveApp } from '../../../helpers/http/app-server.js';
import { createGate } from '../../../helpers/transactions/payments.js';

const TOLD = { 'Access-Credit': 'it' };

describe('the head of a response that waits for some work', () => {
  let app: AppServer;
  let handler: (res: Response) => unknown;
  let work: () => Promise<Readonly<Record<string, string>> | undefined> | undefined;
  let asked = 0;
  let drained = 0;

  beforeAll(async () => {
    app = await serveApp((it) => {
      it.use((_req, res) => {
        beforeHead(res, () => {
          asked += 1;
          return work();
        });
        res.on('drain', () => {
          drained += 1;
        });
        handler(res);
      });
    });
  });
  afterAll(() => app.close());
  beforeEach(() => {
    [asked, drained] = [0, 0];
  });

  async function get() {
    const response = await fetch(app.url);
    const { status, headers } = response;
    return { status, body: await response.text(), credit: headers.get('access-credit'), headers };
  }

  test('goes out with what the work tells, exposed to scripts, and the work is asked for once', async () => {
    work = async () => TOLD;
    handler = (res) => res.status(503).json({ not: 'now' });
    const { headers, ...answer } = await get();
    expect(answer).toEqual({ status: 503, body: '{"not":"now"}', credit: 'it' });
    expect(headers.get('access-control-expose-headers')).toBe('Access-Credit');
    expect(asked).toBe(1);
  });

  test('goes out with nothing more where the work tells nothing, and at once where there is none', async () => {
    for (const none of [async () => undefined, () => undefined]) {
      work = none;
      handler = (res) => res.send('it');
      const { headers, ...answer } = await get();
      expect(answer).toEqual({ status: 200, body: 'it', credit: null });
      expect(headers.get('access-control-expose-headers')).toBeNull();
    }
  });

  test('keeps pieces that are written meanwhile in their order, and asks for more once it goes on', async () => {
    const over = createGate();
    work = async () => {
      await over.opened;
      return TOLD;
    };
    const returned: unknown[] = [];
    handler = (res) => {
      returned.push(res.flushHeaders(), res.write('a'), res.write('b'));
      res.once('drain', () => res.end('c'));
      expect(res.headersSent).toBe(true);
      over.open();
    };
    expect(await get()).toMatchObject({ status: 200, body: 'abc', credit: 'it' });
    expect(returned).toEqual([expect.anything(), false, false]);
    expect(drained).toBe(1);
  });

  test('asks nobody for more who has written nothing, and gives its response back to who ends it', async () => {
    work = async () => TOLD;
    let returned: unknown;
    handler = (res) => {
      returned = res.end('all') === res;
    };
    expect(await get()).toMatchObject({ body: 'all', credit: 'it' });
    expect([drained, returned]).toEqual([0, true]);
  });

  test('is not begun anew by a head that comes between its pieces', async () => {
    work = async () => TOLD;
    handler = (res) => {
      res.write('a');
      res.writeHead(500);
      res.end('b');
    };
    expect(await get()).toMatchObject({ status: 200, body: 'ab', credit: 'it' });
  });

  test('tells who writes a piece after the end that it is over, and does not keep him waiting', async () => {
    work = async () => TOLD;
    const told = createGate();
    let failure: unknown;
    handler = (res) => {
      res.end('all');
      res.write('more', (error) => {
        failure = error;
        told.open();
      });
    };
    expect(await get()).toMatchObject({ body: 'all', credit: 'it' });
    await told.opened;
    expect(failure).toBeInstanceOf(Error);
  });

  test.each<[string, (res: Response) => unknown]>([
    ['a second end', (res) => res.end('more')],
    ['a piece', (res) => res.write('more')],
    ['another status', (res) => Object.assign(res, { statusCode: 200, statusMessage: 'Fine' })],
    ['another head', (res) => res.writeHead(200, { 'content-length': '1' })],
    ['a header', (res) => res.setHeader('content-length', '1')],
    ['headers of another kind', (res) => res.appendHeader('x-more', '1')],
    ['a header taken away', (res) => res.removeHeader('x-mine')],
  ])('is not changed by %s after the end', async (_what, more) => {
    work = async () => TOLD;
    handler = (res) => {
      res.status(404).setHeader('x-mine', 'yes');
      res.end('gone');
      more(res);
    };
    const { headers, ...answer } = await get();
    expect(answer).toEqual({ status: 404, body: 'gone', credit: 'it' });
    expect([headers.get('x-mine'), headers.get('x-more')]).toEqual(['yes', null]);
  });

  test.each<[string, (res: Response) => unknown]>([
    ['a status', (res) => Object.assign(res, { statusCode: 42 }).end('it')],
    ['a message', (res) => Object.assign(res, { statusMessage: 'a\nb' }).flushHeaders()],
    ['a head', (res) => res.writeHead(7)],
    ['a body', (res) => Reflect.apply(res.end, res, [5])],
    ['a piece', (res) => Reflect.apply(res.write, res, [null])],
  ])('does not count as written by %s that Node would not send', async (_what, refused) => {
    work = async () => TOLD;
    handler = (res) => {
      expect(() => refused(res)).toThrow();
      expect([asked, res.headersSent]).toEqual([0, false]);
      Object.assign(res, { statusMessage: '' });
      res.status(500).end('sorry');
    };
    expect(await get()).toMatchObject({ status: 500, body: 'sorry', credit: 'it' });
    expect(asked).toBe(1);
  });
});
