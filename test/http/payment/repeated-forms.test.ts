import { createHash, randomBytes } from 'node:crypto';
import type { Express, Request, Response as ServerAnswer } from 'express';
import { idempotency } from '../../../src/middleware/idempotency/idempotency.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { createMemoryIdempotencyStore } from '../../../src/storage/idempotency/memory-idempotency-store.js';
import { EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { readForm } from '../../helpers/http/body-parsers.js';
import { type PaymentHeaders, signPayment } from '../../helpers/transactions/payments.js';

const PRICE = 10_000n;
const SMALL = randomBytes(20_000);
/** Of such a file the beginning counts alone. */
const LONG = randomBytes(2 * 1024 * 1024);

/** As a browser or a script makes it: each time that it is sent, it has another boundary. */
function form(file: Uint8Array, fields: Readonly<Record<string, string>> = { note: 'x' }): FormData {
  const made = new FormData();
  for (const [name, value] of Object.entries(fields)) made.set(name, value);
  made.set('file', new Blob([Uint8Array.from(file)]), 'a.bin');
  return made;
}

const changed = (file: Buffer): Buffer => Buffer.concat([Buffer.from([(file[0] ?? 0) ^ 1]), file.subarray(1)]);

describe.each(EXPRESSES)('a form that its client makes again, %s', (_name, express) => {
  let fixture: TollFixture;
  let url: string;
  let runs = 0;

  beforeAll(async () => {
    fixture = await openTollFixture();
    const { facilitator, payTo } = fixture;
    const gate = (settle: 'before' | 'after') => requirePayment({ facilitator, payTo, price: '$0.01', settle });
    const keyed = () => idempotency({ store: createMemoryIdempotencyStore() });
    const answer = ({ file }: Request & { file?: { buffer: Buffer } }, res: ServerAnswer) => {
      runs += 1;
      const digest = createHash('sha256')
        .update(String(file?.buffer.toString('hex')))
        .digest('hex');
      res.json({ digest, size: file?.buffer.length, runs });
    };
    url = await fixture.serve((app: Express) => {
      app.post('/after', gate('after'), readForm, answer);
      app.post('/before', gate('before'), readForm, answer);
      app.post('/keyed', keyed(), readForm, answer);
      app.post('/keyed-and-paid', keyed(), gate('after'), readForm, answer);
    }, express);
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    runs = 0;
  });

  const balance = () => {
    const { sandbox, payTo } = fixture;
    return sandbox.tokenBalance(payTo, sandbox.tokens[0]!.mint);
  };
  const post = (path: string, body: FormData | Uint8Array<ArrayBuffer>, headers: PaymentHeaders) =>
    fetch(`${url}${path}`, { method: 'POST', body, headers });
  const sign = async (path: string) => (await signPayment(fixture, `${url}${path}`, { init: { method: 'POST' } })).v2;

  test.each([
    ['/after', SMALL],
    ['/before', SMALL],
    ['/after', LONG],
    ['/before', LONG],
  ])('gets the same bytes for the same payment, and its handler runs once: %s', async (path, file) => {
    const [before, headers] = [balance(), await sign(path)];
    const first = await post(path, form(file), headers);
    const again = await post(path, form(file), headers);

    expect([first.status, again.status]).toEqual([200, 200]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await again.text()).toBe(await first.text());
    expect([runs, balance() - before]).toEqual([1, PRICE]);
  });

  test('of which only the beginning counts is known by it, however long the boundary of another client is', async () => {
    const headers = await sign('/after');
    const raw = (boundary: string) => {
      const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n`;
      const body = Buffer.concat([Buffer.from(head), LONG, Buffer.from(`\r\n--${boundary}--\r\n`)]);
      const type = { 'content-type': `multipart/form-data; boundary=${boundary}` };
      return post('/after', Uint8Array.from(body), { ...headers, ...type });
    };
    const first = await raw('---------------------------735323031399963166993862150');
    const again = await raw('---------------------------9051914041544843365972754266');
    expect([first.status, again.status, runs]).toEqual([200, 200, 1]);
    expect(await again.text()).toBe(await first.text());
  });

  test.each([
    ['/after', SMALL],
    ['/before', SMALL],
    ['/after', LONG],
  ])('with another file is another request, which its payment is not for: %s', async (path, file) => {
    const [before, headers] = [balance(), await sign(path)];
    expect((await post(path, form(file), headers)).status).toBe(200);
    for (const other of [
      form(changed(file)),
      form(file.subarray(1)),
      form(file, { note: 'y' }),
      form(file, { name: 'x' }),
      form(file, {}),
    ]) {
      const refused = await post(path, other, headers);
      expect(refused.status).toBe(402);
      expect(await refused.json()).toMatchObject({ code: 'payment_already_used' });
    }
    expect([runs, balance() - before]).toEqual([1, PRICE]);
  });

  test('gets the same response under one Idempotency-Key, and with another file it is another request', async () => {
    const key = { 'idempotency-key': crypto.randomUUID() };
    const first = await post('/keyed', form(SMALL), key);
    const again = await post('/keyed', form(SMALL), key);
    expect([first.status, again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 200, 'true']);
    expect(await again.text()).toBe(await first.text());

    const other = await post('/keyed', form(changed(SMALL)), key);
    expect(other.status).toBe(422);
    expect(await other.json()).toMatchObject({ code: 'idempotency_key_reused' });
    expect(runs).toBe(1);
  });

  test('gets the same response under one key where it is paid for as well', async () => {
    const before = balance();
    const headers = { ...(await sign('/keyed-and-paid')), 'idempotency-key': crypto.randomUUID() };
    const first = await post('/keyed-and-paid', form(SMALL), headers);
    const again = await post('/keyed-and-paid', form(SMALL), headers);
    expect([first.status, again.status]).toEqual([200, 200]);
    expect(await again.text()).toBe(await first.text());
    expect([runs, balance() - before]).toEqual([1, PRICE]);
  });
});
