import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Express, Response as ServerAnswer } from 'express';
import { idempotency } from '../../../src/middleware/idempotency/idempotency.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { createMemoryIdempotencyStore } from '../../../src/storage/idempotency/memory-idempotency-store.js';
import { EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { formParser, type ReceivedFile } from '../../helpers/http/body-parsers.js';
import { type PaymentHeaders, signPayment } from '../../helpers/transactions/payments.js';

const PRICE = 10_000n;
const FILE = randomBytes(2_000);
const OTHER = randomBytes(2_000);

interface Form {
  readonly file?: Uint8Array;
  readonly name?: string;
  readonly fields?: Readonly<Record<string, string>>;
}

function written({ file, name = 'a.bin', fields = { note: 'x' } }: Form): FormData {
  const made = new FormData();
  for (const [field, value] of Object.entries(fields)) made.set(field, value);
  if (file !== undefined) made.set('file', new Blob([Uint8Array.from(file)]), name);
  return made;
}

const folder = mkdtempSync(join(tmpdir(), 'parsed-forms-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Writes a file as parsers do that keep files on a disk, each under a name of its own. */
function onDisk({ buffer, ...file }: ReceivedFile) {
  const path = join(folder, randomUUID());
  writeFileSync(path, buffer);
  return { ...file, path };
}

/** What parsers of files leave on a request. */
const PARSERS = {
  memory: formParser((body, [file]) => ({ body, file })),
  lists: formParser((body, files) => ({ body, files })),
  fields: formParser((body, files) => ({ body, files: { file: files } })),
  disk: formParser((body, files) => ({ body, file: files.map(onDisk)[0] })),
  formidable: formParser((fields, files) => ({
    fields,
    files: {
      file: files
        .map(onDisk)
        .map(({ path: filepath, originalname, ...it }) => ({ ...it, filepath, originalFilename: originalname })),
    },
  })),
  fileupload: formParser((body, files) => ({
    body,
    files: Object.fromEntries(
      files.map(({ fieldname, originalname: name, buffer: data, size }) => [fieldname, { name, data, size }]),
    ),
  })),
  tempfiles: formParser((body, files) => ({
    body,
    files: files.map(onDisk).map(({ path: tempFilePath, size }) => ({ tempFilePath, size, data: Buffer.alloc(0) })),
  })),
};
const hidden = formParser((body, files) => ({ body, upload: files }));
const elsewhere = formParser((body, files) => ({
  body,
  files: files.map(({ size }) => ({ size, key: randomUUID() })),
}));

describe.each(EXPRESSES)('a form that somebody has read before the gate, %s', (_name, express) => {
  let fixture: TollFixture;
  let url: string;
  let runs = 0;

  beforeAll(async () => {
    fixture = await openTollFixture();
    const { facilitator, payTo } = fixture;
    const gate = requirePayment({ facilitator, payTo, price: '$0.01' });
    const keyed = idempotency({ store: createMemoryIdempotencyStore() });
    const answer = (_req: unknown, res: ServerAnswer) => {
      runs += 1;
      res.json({ runs });
    };
    url = await fixture.serve((app: Express) => {
      for (const [name, parser] of Object.entries({ ...PARSERS, hidden, elsewhere })) {
        app.post(`/${name}`, parser, gate, answer);
        app.post(`/${name}/keyed`, parser, keyed, answer);
      }
    }, express);
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    runs = 0;
  });

  const post = (path: string, form: Form, headers: PaymentHeaders) =>
    fetch(`${url}${path}`, { method: 'POST', body: written(form), headers });
  const sign = async (path: string, form: Form = {}) =>
    (await signPayment(fixture, `${url}${path}`, { init: { method: 'POST', body: written(form) } })).v2;
  const balance = () => fixture.sandbox.tokenBalance(fixture.payTo, fixture.sandbox.tokens[0]!.mint);

  test.each(Object.keys(PARSERS))('gets the same bytes for its payment, and no other file does: %s', async (name) => {
    const [before, headers] = [balance(), await sign(`/${name}`, { file: FILE })];
    const first = await post(`/${name}`, { file: FILE }, headers);
    const again = await post(`/${name}`, { file: FILE }, headers);
    expect([first.status, again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 200, 'true']);
    expect(await again.text()).toBe(await first.text());

    for (const other of [{ file: OTHER }, { file: FILE, fields: { note: 'y' } }, {}]) {
      const refused = await post(`/${name}`, other, headers);
      expect(refused.status).toBe(402);
      expect(await refused.json()).toMatchObject({ code: 'payment_already_used' });
    }
    expect([runs, balance() - before]).toEqual([1, PRICE]);
  });

  test.each(Object.keys(PARSERS))('gets the same response under its key, and no other file does: %s', async (name) => {
    const key = { 'idempotency-key': randomUUID() };
    const first = await post(`/${name}/keyed`, { file: FILE }, key);
    const again = await post(`/${name}/keyed`, { file: FILE }, key);
    expect([first.status, await again.text()]).toEqual([200, await first.text()]);
    expect((await post(`/${name}/keyed`, { file: OTHER }, key)).status).toBe(422);
    expect(runs).toBe(1);
  });

  test('of the same file under another name is another request', async () => {
    const headers = await sign('/memory', { file: FILE });
    expect((await post('/memory', { file: FILE }, headers)).status).toBe(200);
    expect((await post('/memory', { file: FILE, name: 'b.bin' }, headers)).status).toBe(402);
  });

  test('without files gets the same bytes for its payment: its fields are all that it has', async () => {
    const form = { fields: { note: 'ü€', 'list[0][a]': '1', empty: '' } };
    const headers = await sign('/hidden', form);
    const first = await post('/hidden', form, headers);
    const again = await post('/hidden', form, headers);
    expect([first.status, again.status]).toEqual([200, 200]);
    expect(await again.text()).toBe(await first.text());
    expect((await post('/hidden', { fields: { ...form.fields, note: 'ä€' } }, headers)).status).toBe(402);
    expect(runs).toBe(1);
  });

  test.each(['hidden', 'elsewhere'])(
    'and put where nobody finds its file is paid once, and not compared: %s',
    async (name) => {
      const [before, headers] = [balance(), await sign(`/${name}`, { file: FILE })];
      expect((await post(`/${name}`, { file: FILE }, headers)).status).toBe(200);
      // Nobody can say that it is the same file: its answer is not given again.
      for (const file of [FILE, OTHER]) expect((await post(`/${name}`, { file }, headers)).status).toBe(402);
      expect((await post(`/${name}`, { file: Buffer.alloc(0) }, headers)).status).toBe(402);
      expect([runs, balance() - before]).toEqual([1, PRICE]);
    },
  );

  test.each(['hidden', 'elsewhere'])('and put where nobody finds its file has no key: %s', async (name) => {
    const refused = await post(`/${name}/keyed`, { file: FILE }, { 'idempotency-key': randomUUID() });
    expect(refused.status).toBe(413);
    expect(await refused.json()).toMatchObject({ code: 'body_too_large', detail: expect.stringContaining('files') });
    expect(runs).toBe(0);
  });
});
