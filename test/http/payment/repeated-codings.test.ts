import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import type { Express } from 'express';
import { idempotency } from '../../../src/middleware/idempotency/idempotency.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { createMemoryIdempotencyStore } from '../../../src/storage/idempotency/memory-idempotency-store.js';
import { EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { type PaymentHeaders, signPayment } from '../../helpers/transactions/payments.js';

const TEXT = 'hello '.repeat(500);
const CODERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
};
/** What a handler sends, by the coding that it says. */
const CODED: Readonly<Record<string, Buffer>> = {
  gzip: gzipSync(TEXT),
  deflate: deflateSync(TEXT),
  br: brotliCompressSync(TEXT),
  'x-own': Buffer.from('of its own'),
};
const MIB = 1024 * 1024;
const BROKEN = gzipSync(TEXT).subarray(0, 20);

describe.each(EXPRESSES)('a response that was kept as it was coded for its first client, %s', (_name, express) => {
  let fixture: TollFixture;
  let url: string;
  let body: Buffer = BROKEN;

  beforeAll(async () => {
    fixture = await openTollFixture();
    const { facilitator, payTo } = fixture;
    url = await fixture.serve((app: Express) => {
      const gate = requirePayment({ facilitator, payTo, price: '$0.01' });
      app.use('/keyed', idempotency({ store: createMemoryIdempotencyStore() }));
      app.use('/paid', gate);
      app.all(['/paid', '/keyed'], (req, res) => {
        const coding = String(req.query['coding']);
        const head = {
          'Content-Type': 'text/plain',
          'Content-Encoding': coding,
          ETag: '"one"',
          'Accept-Ranges': 'bytes',
        };
        res
          .status(req.query['part'] === undefined ? 200 : 206)
          .set(head)
          .end(body);
      });
    }, express);
  });
  afterAll(() => fixture.close());

  /** As it comes over the wire; by default from a client that takes nothing coded and says nothing of it. */
  function ask(path: string, headers: PaymentHeaders, method = 'GET', localAddress = '127.0.0.1') {
    return new Promise<{
      status: number;
      coding: string | undefined;
      etag: string | undefined;
      ranges: string | undefined;
      body: string;
    }>((resolve, reject) => {
      const sent = request(`${url}${path}`, { method, headers, localAddress }, async (answer) => {
        const chunks: Buffer[] = [];
        for await (const chunk of answer) chunks.push(chunk);
        const { 'content-encoding': coding, etag, 'accept-ranges': ranges } = answer.headers;
        resolve({
          status: answer.statusCode ?? 0,
          coding,
          etag,
          ranges,
          body: Buffer.concat(chunks).toString('latin1'),
        });
      });
      sent.on('error', reject);
      sent.end();
    });
  }

  async function pay(path: string) {
    const { v2 } = await signPayment(fixture, `${url}${path}`);
    expect((await ask(path, v2)).body).toBe(body.toString('latin1'));
    return v2;
  }

  test.each(['gzip', 'deflate', 'br'])('is decoded for one who takes no %s', async (coding) => {
    body = CODED[coding] ?? BROKEN;
    const path = `/paid?coding=${coding}`;
    const headers = await pay(path);
    const asItWas = { status: 200, coding, etag: '"one"', ranges: 'bytes', body: body.toString('latin1') };
    const decoded = { status: 200, coding: undefined, etag: 'W/"one"', ranges: undefined, body: TEXT };
    for (const accept of [coding, `identity, ${coding};q=0.5`, '*'])
      expect(await ask(path, { ...headers, 'accept-encoding': accept })).toEqual(asItWas);
    for (const accept of ['identity', `${coding};q=0`, 'zstd'])
      expect(await ask(path, { ...headers, 'accept-encoding': accept })).toEqual(decoded);
    expect(await ask(path, headers)).toEqual(decoded);
  });

  test('is decoded for one who comes under the same Idempotency-Key', async () => {
    body = CODED['gzip'] ?? BROKEN;
    const key = { 'idempotency-key': randomUUID() };
    expect((await ask('/keyed?coding=gzip', { ...key, 'accept-encoding': 'gzip' }, 'POST')).body).toBe(
      body.toString('latin1'),
    );
    expect((await ask('/keyed?coding=gzip', key, 'POST')).body).toBe(TEXT);
  });

  test.each(['gzip', 'deflate', 'br'])(
    'is decoded where that makes no more of it than is held, from %s',
    async (coding) => {
      const long = Buffer.alloc(8 * MIB, 'x');
      body = CODERS[coding]?.(long) ?? BROKEN;
      const path = `/paid?coding=${coding}`;
      const headers = await pay(path);
      const several = await Promise.all(Array.from({ length: 4 }, () => ask(path, headers)));
      for (const again of several) {
        expect(again.coding).toBeUndefined();
        expect(again.body === long.toString('latin1')).toBe(true);
      }
    },
  );

  test('is decoded for an address that asks once before another one has had it thirty times', async () => {
    body = gzipSync(Buffer.alloc(8 * MIB, 'x'));
    const path = '/paid?coding=gzip';
    const headers = await pay(path);
    const had: string[] = [];
    const askFrom = async (address: string) => {
      await ask(path, headers, 'GET', address);
      had.push(address);
    };
    const one = Array.from({ length: 30 }, () => askFrom('127.0.0.1'));
    await Promise.all([...one, askFrom('127.1.0.1')]);
    expect(had.indexOf('127.1.0.1')).toBeLessThan(one.length);
  });

  test.each(['gzip', 'deflate', 'br'])(
    'is given as it is where little %s stands for more than is held',
    async (coding) => {
      body = CODERS[coding]?.(Buffer.alloc(8 * MIB + 1, 'x')) ?? BROKEN;
      const path = `/paid?coding=${coding}`;
      const headers = await pay(path);
      for (const again of await Promise.all(Array.from({ length: 4 }, () => ask(path, headers))))
        expect(again).toEqual({ status: 200, coding, etag: '"one"', ranges: 'bytes', body: body.toString('latin1') });
    },
  );

  test.each([
    ['of a coding that nobody knows', 'x-own', CODED['x-own'], ''],
    ['coded twice', 'gzip, br', CODED['br'], ''],
    ['that is no such coding', 'gzip', BROKEN, ''],
    ['of a part', 'gzip', CODED['gzip'], '&part'],
  ])('is given as it is where it is one %s', async (_what, coding, bytes = BROKEN, more) => {
    body = bytes;
    const path = `/paid?coding=${encodeURIComponent(coding)}${more}`;
    const again = await ask(path, await pay(path));
    expect([again.coding, again.etag, again.body]).toEqual([coding, '"one"', body.toString('latin1')]);
  });
});
