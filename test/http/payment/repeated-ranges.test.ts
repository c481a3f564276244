import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Express, Request, Response as ServerAnswer } from 'express';
import { idempotency } from '../../../src/middleware/idempotency/idempotency.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { createMemoryIdempotencyStore } from '../../../src/storage/idempotency/memory-idempotency-store.js';
import { EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { buyPass } from '../../helpers/http/passes.js';
import { type PaymentHeaders, signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const PRICE = 10_000n;
const FILM = Array.from({ length: 100 }, (_, index) => String(index).padStart(2, '0')).join('');
const part = (from: number, to: number): string => FILM.slice(from, to + 1);

const folder = mkdtempSync(join(tmpdir(), 'repeated-ranges-'));
beforeAll(() => writeFileSync(join(folder, 'film.txt'), FILM));
afterAll(() => rmSync(folder, { recursive: true }));

/** Which pass a token is of: each is made anew. */
function passIn(token: string | null | undefined): unknown {
  return JSON.parse(Buffer.from(token?.split('.')[1] ?? '', 'base64url').toString()).jti;
}

describe.each(EXPRESSES)('a paid file that is asked for in parts, %s', (_name, express) => {
  let fixture: TollFixture;
  let url: string;
  let runs = 0;

  beforeAll(async () => {
    fixture = await openTollFixture();
    const { facilitator, payTo } = fixture;
    // The money has landed then, and nothing has left.
    const onSettled = ({ req }: { req: Request }) => void (req.get('x-hang-up') && req.socket.destroy());
    const gate = (settle: 'before' | 'after') =>
      requirePayment({ facilitator, payTo, price: '$0.01', settle, onSettled });
    const pass = requirePayment({ facilitator, payTo, price: '$0.05', pass: { for: '1h' } });
    const film = (_req: Request, res: ServerAnswer) => {
      runs += 1;
      res.sendFile('film.txt', { root: folder });
    };
    url = await fixture.serve((app: Express) => {
      app.get('/after', gate('after'), film);
      app.get('/before', gate('before'), film);
      app.get('/by-pass', pass, film);
      app.post('/keyed', idempotency({ store: createMemoryIdempotencyStore() }), film);
    }, express);
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    runs = 0;
  });

  const balance = () => fixture.sandbox.tokenBalance(fixture.payTo, fixture.sandbox.tokens[0]!.mint);
  const get = (path: string, headers: PaymentHeaders, range: PaymentHeaders = {}) =>
    fetch(`${url}${path}`, { headers: { ...headers, ...range } });
  const sign = async (path: string) => (await signPayment(fixture, `${url}${path}`)).v2;

  async function expectOther(refused: Response): Promise<void> {
    expect(refused.status).toBe(402);
    const detail = expect.stringMatching(/bytes 0-9\/200.*same Range.*pass/);
    expect(await refused.json()).toMatchObject({ code: 'payment_already_used', detail });
  }

  test.each(['/after', '/before'])('gives the part that was paid to the same Range alone: %s', async (path) => {
    const [before, headers] = [balance(), await sign(path)];
    const first = await get(path, headers, { range: 'bytes=0-9' });
    expect([first.status, await first.text()]).toEqual([206, part(0, 9)]);

    await expectOther(await get(path, headers));
    await expectOther(await get(path, headers, { range: 'bytes=10-19' }));
    await expectOther(await get(path, headers, { range: 'bytes=0-9', 'if-range': '"another"' }));

    const again = await get(path, headers, { range: 'bytes=0-9' });
    expect([again.status, await again.text()]).toEqual([206, part(0, 9)]);
    expect(again.headers.get('content-range')).toBe('bytes 0-9/200');
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect([runs, balance() - before]).toEqual([1, PRICE]);
  });

  test.each(['/after', '/before'])(
    'gives the whole that was paid to whoever goes on where it broke off: %s',
    async (path) => {
      const [before, headers] = [balance(), await sign(path)];
      const first = await get(path, headers);
      expect([first.status, await first.text()]).toEqual([200, FILM]);
      const etag = first.headers.get('etag') ?? '';
      for (const range of [{ range: 'bytes=100-' }, { range: 'bytes=100-', 'if-range': etag }]) {
        const again = await get(path, headers, range);
        expect([again.status, again.headers.get('content-range'), await again.text()]).toEqual([200, null, FILM]);
      }
      expect([runs, balance() - before]).toEqual([1, PRICE]);
    },
  );

  test('owes the part that was paid and did not arrive to the same Range alone', async () => {
    const [before, headers] = [balance(), await sign('/after')];
    const range = { range: 'bytes=0-9' };
    const sent = request(`${url}/after`, { headers: { ...headers, ...range, 'x-hang-up': '1' } });
    sent.on('error', () => undefined);
    sent.end();
    await until(() => balance() - before === PRICE);
    await until(async () => (await get('/after', headers)).status === 402);
    await expectOther(await get('/after', headers));
    const again = await get('/after', headers, range);
    expect([again.status, await again.text()]).toEqual([206, part(0, 9)]);
    expect([runs, balance() - before]).toEqual([1, PRICE]);
  });

  test('is sold in all its parts by a pass, and a payment that has bought one is told so', async () => {
    const range = (value: string) => ({ headers: { range: value } });
    const { payment, paid, token } = await buyPass(fixture, `${url}/by-pass`, range('bytes=0-0'));
    expect([paid.status, await paid.text()]).toEqual([206, part(0, 0)]);
    for (const [from, to] of [
      [0, 9],
      [10, 99],
    ] as const) {
      const read = await get('/by-pass', token, { range: `bytes=${from}-${to}` });
      expect([read.status, await read.text()]).toEqual([206, part(from, to)]);
    }
    const refused = await get('/by-pass', payment.v2, { range: 'bytes=10-19' });
    expect(refused.status).toBe(402);
    expect(await refused.json()).toMatchObject({
      code: 'payment_already_used',
      detail: expect.stringContaining('Access-Pass'),
    });
    expect(passIn(refused.headers.get('access-pass'))).toBe(passIn(token['access-pass']));
  });

  test('under an Idempotency-Key gives a part to the same Range alone', async () => {
    const key = { 'idempotency-key': randomUUID() };
    const post = (range: PaymentHeaders) => fetch(`${url}/keyed`, { method: 'POST', headers: { ...key, ...range } });
    const first = await post({ range: 'bytes=0-9' });
    expect([first.status, await first.text()]).toEqual([206, part(0, 9)]);
    for (const range of [{}, { range: 'bytes=10-19' }]) {
      const refused = await post(range);
      expect(refused.status).toBe(422);
      expect(await refused.json()).toMatchObject({ code: 'idempotency_key_reused' });
    }
    expect(await (await post({ range: 'bytes=0-9' })).text()).toBe(part(0, 9));
    expect(runs).toBe(1);
  });
});
