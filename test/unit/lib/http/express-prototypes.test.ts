import { createServer, type IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { Later } from '../../../../src/lib/http/later.js';
import { putProperty } from '../../../../src/lib/http/request-property.js';
import { headHook } from '../../../../src/lib/http/write-head.js';
import { serveApp } from '../../../helpers/http/app-server.js';

/** What a request says of its property. */
const propertyOf = (req: object, name: string): unknown => Reflect.get(req, name);
const put = (name: string, value: string) => (req: IncomingMessage, _res: unknown, next: () => void) => {
  putProperty(req, name, new Later(() => value));
  next();
};

async function getAll(
  configure: (app: express.Express) => void,
  paths: readonly string[],
): Promise<readonly Response[]> {
  const server = await serveApp(configure);
  try {
    const answers: Response[] = [];
    for (const path of paths) answers.push(await fetch(server.url + path));
    return answers;
  } finally {
    await server.close();
  }
}

const textsOf = (answers: readonly Response[]) => Promise.all(answers.map((it) => it.text()));

describe('a property that is put on a request', () => {
  test('is that of its request, and of no other', async () => {
    const answers = await getAll(
      (app) => {
        app.get('/with', put('one', 'put'), (req, res) => void res.send(String(propertyOf(req, 'one'))));
        app.get('/without', (req, res) => void res.send(String(propertyOf(req, 'one'))));
      },
      ['/with', '/without', '/with'],
    );
    expect(await textsOf(answers)).toEqual(['put', 'undefined', 'put']);
  });

  test('is an own one of a request on which an app writes it', async () => {
    const answers = await getAll(
      (app) => {
        app.use('/app', (req, _res, next) => {
          Reflect.set(req, 'two', 'of the app');
          next();
        });
        const answer: express.RequestHandler = (req, res) =>
          void res.json([propertyOf(req, 'two'), Object.keys(req).includes('two')]);
        app.get('/put', put('two', 'put'), answer);
        app.get('/app/alone', answer);
        app.get('/app/put', put('two', 'put'), answer);
      },
      ['/put', '/app/alone', '/app/put', '/put'],
    );
    expect(await Promise.all(answers.map((it) => it.json()))).toEqual([
      ['put', false],
      ['of the app', true],
      ['put', true],
      ['put', false],
    ]);
  });

  test('goes with the request into a mounted app and out of it', async () => {
    const answers = await getAll(
      (app) => {
        const inner = express();
        inner.use(put('inside', 'put inside'));
        app.use(put('outside', 'put outside'));
        inner.get('/deep', (req, res) => void res.json([propertyOf(req, 'outside'), propertyOf(req, 'inside')]));
        app.use('/mounted', inner);
        app.use((req, res) => void res.json([propertyOf(req, 'outside'), propertyOf(req, 'inside')]));
      },
      ['/mounted/deep', '/mounted/other', '/flat'],
    );
    expect(await Promise.all(answers.map((it) => it.json()))).toEqual([
      ['put outside', 'put inside'],
      ['put outside', 'put inside'],
      ['put outside', null],
    ]);
  });

  test('leaves alone what an app has of that name for all its requests', async () => {
    const answers = await getAll(
      (app) => {
        Object.defineProperty(app.request, 'three', { configurable: true, writable: true, value: 'of the app' });
        app.get('/put', put('three', 'put'), (req, res) => void res.send(String(propertyOf(req, 'three'))));
        app.get('/', (req, res) => void res.send(String(propertyOf(req, 'three'))));
      },
      ['/put', '/'],
    );
    expect(await textsOf(answers)).toEqual(['put', 'of the app']);
  });

  test('leaves it alone as well where another app had it put before', async () => {
    const answer: express.RequestHandler = (req, res) => void res.send(String(propertyOf(req, 'five')));
    const [first] = await getAll((app) => void app.get('/', put('five', 'put'), answer), ['/']);
    const [other] = await getAll(
      (app) => {
        Object.defineProperty(app.request, 'five', { configurable: true, writable: true, value: 'of the app' });
        app.get('/', put('five', 'put'), answer);
      },
      ['/'],
    );
    expect(await textsOf([first, other].filter((it) => it !== undefined))).toEqual(['put', 'put']);
  });

  test('is had by a request that is none of Express', async () => {
    const server = createServer((req, res) => {
      putProperty(req, 'four', new Later(() => 'put'));
      res.end(String(propertyOf(req, 'four')));
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const { port } = server.address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${port}`);
    await new Promise((closed) => server.close(closed));
    expect(await answer.text()).toBe('put');
  });
});

describe('what is to be done to the head of a response', () => {
  const hook = headHook((res) => void res.appendHeader('X-Done', String(res.getHeader('X-Handler') ?? 'nothing')));
  const doIt: express.RequestHandler = (_req, res, next) => {
    hook(res);
    next();
  };
  /** As compression and its like do it. */
  const wrap: express.RequestHandler = (_req, res, next) => {
    const { writeHead } = res;
    res.writeHead = ((...args: unknown[]) => {
      res.appendHeader('X-Wrapped', String(res.getHeader('X-Done') ?? 'before'));
      return Reflect.apply(writeHead, res, args);
    }) as typeof writeHead;
    next();
  };
  const handler: express.RequestHandler = (_req, res) => void res.writeHead(201, { 'X-Handler': 'set' }).end('good');

  test('is done once, when the head is whole, however often it is asked for, and to no other response', async () => {
    const [hooked, bare] = await getAll(
      (app) => {
        app.get('/hooked', doIt, doIt, handler);
        app.get('/bare', handler);
      },
      ['/hooked', '/bare'],
    );
    expect([hooked?.status, hooked?.headers.get('x-done')]).toEqual([201, 'set']);
    expect([bare?.status, bare?.headers.get('x-done')]).toEqual([201, null]);
  });

  test('is done whoever else has put himself before writeHead', async () => {
    const answers = await getAll(
      (app) => {
        app.get('/first', doIt, handler);
        app.get('/before', wrap, doIt, handler);
        app.get('/behind', doIt, wrap, handler);
      },
      ['/before', '/behind', '/first', '/before', '/behind'],
    );
    // Who has put himself over it is called before it is done, and is not in its way.
    const before = ['set', 'set'];
    const behind = ['set', 'before'];
    expect(answers.map(({ headers }) => [headers.get('x-done'), headers.get('x-wrapped')])).toEqual([
      before,
      behind,
      ['set', null],
      before,
      behind,
    ]);
  });

  test.each([
    ['calls that of Express', (base: object) => () => Reflect.get(base, 'writeHead')],
    [
      'has kept that of Express',
      (base: object) => {
        const kept: unknown = Reflect.get(base, 'writeHead');
        return () => kept;
      },
    ],
  ])(
    'is done where an app has a writeHead of its own that %s, and to no other app of its Express',
    async (_what, make) => {
      // An Express that nobody has hooked yet.
      const { writeHead: _hooked, ...others } = Object.getOwnPropertyDescriptors(express.response);
      const base = Object.create(ServerResponse.prototype, others);
      const inheritedBy = make(base);
      const [ours] = await getAll(
        (app) => {
          app.response = Object.create(base, { app: { configurable: true, writable: true, value: app } });
          app.response.writeHead = function own(this: express.Response, ...args: unknown[]) {
            this.setHeader('X-Own', 'yes');
            return Reflect.apply(inheritedBy() as typeof this.writeHead, this, args);
          } as typeof app.response.writeHead;
          app.get('/', doIt, handler);
        },
        ['/'],
      );
      const [other] = await getAll(
        (app) => {
          app.response = Object.create(base, { app: { configurable: true, writable: true, value: app } });
          app.get('/', doIt, handler);
        },
        ['/'],
      );
      expect([ours, other].map((it) => [it?.status, it?.headers.get('x-done'), it?.headers.get('x-own')])).toEqual([
        [201, 'set', 'yes'],
        [201, 'set', null],
      ]);
    },
  );

  test('is done where an app has a writeHead of its own for all its responses', async () => {
    const answers = await getAll(
      (app) => {
        const { writeHead } = app.response;
        app.response.writeHead = function own(this: express.Response, ...args: unknown[]) {
          this.setHeader('X-Own', 'yes');
          return Reflect.apply(writeHead, this, args);
        } as typeof writeHead;
        app.get('/', doIt, handler);
      },
      ['/', '/'],
    );
    expect(answers.map(({ headers }) => [headers.get('x-done'), headers.get('x-own')])).toEqual([
      ['set', 'yes'],
      ['set', 'yes'],
    ]);
  });
});
