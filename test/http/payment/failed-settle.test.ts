import { pipeline, Readable } from 'node:stream';
import type { ErrorRequestHandler, Request, Response as ServerAnswer } from 'express';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import type { Refusal } from '../../../src/protocol/types.js';
import { createMemoryLedger } from '../../../src/storage/ledger/memory-ledger.js';
import { DAILY_EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { ledgerWith } from '../../helpers/storage/ledgers.js';
import { receiptOf, signPayment } from '../../helpers/transactions/payments.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
/** Where a token account holds its amount. */
const [AMOUNT_START, AMOUNT_END] = [64, 72];
const SECRET = 'the thing that is sold';

type Handler = (req: Request, res: ServerAnswer) => unknown;

const SECRETIVE: readonly (readonly [string, Handler])[] = [
  ['res.json', (_req, res) => res.json({ SECRET })],
  ['res.send with a status', (_req, res) => res.status(201).send(SECRET)],
  ['res.write and res.end', (_req, res) => res.write(SECRET) && res.end(SECRET)],
  [
    'res.writeHead with a status message',
    (_req, res) => res.writeHead(200, SECRET, { 'X-Secret': SECRET }).end(SECRET),
  ],
  ['res.redirect', (_req, res) => res.redirect(`/${encodeURIComponent(SECRET)}`)],
  ['res.sendFile', (_req, res) => res.sendFile(__filename, { headers: { 'X-Secret': SECRET } })],
  ['a stream', (_req, res) => pipeline(Readable.from([SECRET, SECRET]), res, () => undefined)],
  ['res.flushHeaders', (_req, res) => res.set('X-Secret', SECRET).flushHeaders() ?? res.end(SECRET)],
];

describe.each(DAILY_EXPRESSES)('a settlement that fails after the handler, %s', (_name, express) => {
  let fixture: TollFixture;
  let url: string;
  let handler: Handler = () => undefined;
  let runs = 0;
  let failures: Refusal[] = [];
  /** What an app's own handler of errors is given. */
  let errors: unknown[] = [];

  beforeAll(async () => {
    fixture = await openTollFixture();
    const { facilitator, payTo, sandbox } = fixture;
    const gate = requirePayment({
      facilitator,
      payTo,
      price: '$0.01',
      onFailed: ({ refusal }) => failures.push(refusal),
    });
    url = await fixture.serve((app) => {
      app.use((_req, res, next) => {
        res.setHeader('X-Before', 'kept');
        next();
      });
      app.get('/report', gate, (req, res) => {
        runs += 1;
        // The payer spends the money elsewhere while the handler works.
        empty(req.payment?.payer ?? '');
        res.cookie('session', SECRET).set('X-Secret', SECRET).set('ETag', `"${SECRET}"`).set('Cache-Control', 'public');
        handler(req, res);
      });
      app.use(((error, _req, _res, next) => {
        errors.push(error);
        next(error);
      }) satisfies ErrorRequestHandler);
    }, express);

    function empty(payer: string): void {
      const account = sandbox.fundToken(payer, USDC, 0n);
      const state = sandbox.account(account);
      if (state === null) throw new Error('the payer has no account');
      const data = Uint8Array.from(state.data);
      data.fill(0, AMOUNT_START, AMOUNT_END);
      sandbox.setAccount(account, { ...state, data });
    }
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    runs = 0;
    failures = [];
    errors = [];
  });

  test.each(SECRETIVE)('leaks nothing of an answer written with %s', async (_what, secretive) => {
    handler = secretive;
    const payer = await fixture.sandbox.createWallet({ usdc: '1' });
    const { v2 } = await signPayment({ ...fixture, payer }, `${url}/report`);
    const answer = await fetch(`${url}/report`, { headers: v2, redirect: 'manual' });
    const body = await answer.text();
    const said = [answer.statusText, body, ...[...answer.headers].flat()].join('\n');

    expect(runs).toBe(1);
    expect(answer.status).toBe(402);
    expect(answer.statusText).toBe('Payment Required');
    expect(said).not.toContain(SECRET);
    expect(said).not.toContain(encodeURIComponent(SECRET));
    for (const name of ['set-cookie', 'x-secret', 'etag', 'last-modified', 'location']) {
      expect(answer.headers.get(name)).toBeNull();
    }
    expect(answer.headers.get('x-before')).toBe('kept');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(JSON.parse(body)).toMatchObject({ code: 'payment_invalid', error: 'insufficient_funds', x402Version: 1 });
    expect(receiptOf(answer)).toMatchObject({ success: false, errorReason: 'insufficient_funds' });
    expect(failures).toMatchObject([{ reason: 'insufficient_funds' }]);
    expect(errors).toEqual([]);
  });

  test('lets go of the payment: once the payer has the money again, the same payment is good', async () => {
    handler = (_req, res) => res.send('first');
    const payer = await fixture.sandbox.createWallet({ usdc: '1' });
    const { v2 } = await signPayment({ ...fixture, payer }, `${url}/report`);
    const refused = await fetch(`${url}/report`, { headers: v2 });
    handler = (_req, res) => {
      fixture.sandbox.fundToken(payer.publicKey.toBase58(), USDC, 10_000n);
      res.send('second');
    };
    fixture.sandbox.fundToken(payer.publicKey.toBase58(), USDC, 10_000n);
    const paid = await fetch(`${url}/report`, { headers: v2 });

    expect([refused.status, paid.status]).toEqual([402, 200]);
    expect(await paid.text()).toBe('second');
    expect(runs).toBe(2);
  });
});

test('a ledger that fails while the money is taken leaves no client waiting, and the payment is good afterwards', async () => {
  const fixture = await openTollFixture();
  const memory = createMemoryLedger();
  let broken = true;
  const ledger = ledgerWith(memory, {
    async recordBroadcast(id, lease, broadcast) {
      if (broken) throw new Error('the disk is full');
      return memory.recordBroadcast(id, lease, broadcast);
    },
  });
  const facilitator = fixture.facilitatorWith({ ledger });
  const url = await fixture.serve((app) => {
    app.set('env', 'test');
    app.get('/report', requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.01' }), (_req, res) => {
      res.set('X-Secret', SECRET).send(SECRET);
    });
  });
  const { v2 } = await signPayment(fixture, `${url}/report`);
  const failed = await fetch(`${url}/report`, { headers: v2 });
  const text = await failed.text();
  broken = false;
  const paid = await fetch(`${url}/report`, { headers: v2 });

  expect(failed.status).toBe(500);
  expect(failed.headers.get('x-secret')).toBeNull();
  expect(text).not.toContain(SECRET);
  expect(paid.status).toBe(200);
  expect(fixture.sandbox.calls.sendTransaction).toBe(1);
  await fixture.close();
});
