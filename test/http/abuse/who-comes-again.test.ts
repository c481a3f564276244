import { request } from 'node:http';
import type { Express } from 'express';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { readTerms } from '../../../src/protocol/wire/terms.js';
import { decodeTransaction } from '../../../src/solana/transaction/transaction.js';
import { createMemoryIdempotencyStore } from '../../../src/storage/idempotency/memory-idempotency-store.js';
import type { PaymentRecord } from '../../../src/storage/ledger/ledger.js';
import { createMemoryLedger } from '../../../src/storage/ledger/memory-ledger.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { testFolder } from '../../helpers/processes/test-folder.js';
import { ledgerWith } from '../../helpers/storage/ledgers.js';
import {
  askTerms,
  carry,
  type PaymentHeaders,
  receiptOf,
  type SignedPayment,
  signPayment,
} from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const PRICE = 10_000n;
const folder = testFolder();
const PAGE = 'x'.repeat(3_900_000);
const IDENTIFIER = 'payment-identifier';

describe('a payment buys one response, for the one who paid, for the request that it was paid for', () => {
  let fixture: TollFixture;
  let url: string;
  /** What handlers were run for. */
  let runs: string[];
  /** How many times the handlers of `/failing` fail before they succeed. */
  let failures = 0;
  let received = 0n;

  beforeAll(async () => {
    fixture = await openTollFixture();
    url = await fixture.serve((app) => routes(app, fixture.facilitator));
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    runs = [];
    failures = 0;
    received = fixture.sandbox.tokenBalance(fixture.payTo, fixture.facilitator.tokens[0]?.mint ?? '');
  });

  const paid = (): bigint =>
    fixture.sandbox.tokenBalance(fixture.payTo, fixture.facilitator.tokens[0]?.mint ?? '') - received;

  function routes(app: Express, facilitator: TollFixture['facilitator']): void {
    app.set('trust proxy', true);
    const gated = { facilitator, payTo: fixture.payTo, price: '$0.01' } as const;
    app.get('/ticks', requirePayment({ ...gated, settle: 'before', handlerTimeoutMs: 100 }), (req, res) => {
      runs.push(req.originalUrl);
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(`data: ${req.originalUrl} 1\n\n`);
      res.write(`data: ${req.originalUrl} last word\n\n`);
      // Without an end: a stream of events.
    });
    app.get('/short', requirePayment({ ...gated, settle: 'before' }), (req, res) => {
      runs.push(req.originalUrl);
      res.set('set-cookie', `session=${runs.length}`).send(`short ${req.originalUrl} ${runs.length}`);
    });
    app.get('/failing', requirePayment({ ...gated, settle: 'before' }), (req, res) => {
      runs.push(req.originalUrl);
      failures -= 1;
      if (failures >= 0) res.status(503).send('not now');
      else res.send(`at last ${runs.length}`);
    });
    app.get('/pages', requirePayment(gated), (req, res) => {
      runs.push(req.originalUrl);
      res.set('set-cookie', `session=${runs.length}`).send(`${req.originalUrl} ${runs.length} ${PAGE}`);
    });
    app.get('/after', requirePayment(gated), (req, res) => {
      runs.push(req.originalUrl);
      res.set('set-cookie', `session=${runs.length}`).send(`after ${req.originalUrl} ${runs.length}`);
    });
    app.get('/named', requirePayment({ ...gated, paymentIdentifier: 'required' }), (req, res) => {
      runs.push(req.originalUrl);
      res.send(`named ${runs.length}`);
    });
  }

  /** The payer's newest transaction as everybody can read it from the chain; undefined while there is none. */
  async function newestTransaction(): Promise<Uint8Array | undefined> {
    const payer = fixture.payer.publicKey.toBase58();
    const newest = (await rpc('getSignaturesForAddress', [payer, { limit: 1, commitment: 'confirmed' }])) as {
      signature: string;
    }[];
    const [signature] = newest.map((it) => it.signature);
    if (signature === undefined) return undefined;
    const how = { encoding: 'base64', maxSupportedTransactionVersion: 0, commitment: 'confirmed' };
    const { transaction } = (await rpc('getTransaction', [signature, how])) as { transaction: [string] };
    return Buffer.from(transaction[0], 'base64');
  }

  async function rpc(method: string, params: readonly unknown[]): Promise<unknown> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const headers = { 'content-type': 'application/json' };
    return (
      (await (await fetch(fixture.sandbox.rpcUrl, { method: 'POST', headers, body })).json()) as { result: unknown }
    ).result;
  }

  /**
   * What a stranger sends who knows the chain and the shop, and nothing that the payer has kept to itself.
   * @param paid - the payment, which is on the chain or will be in a moment
   */
  async function stolen(path: string, paid: PaymentHeaders): Promise<SignedPayment> {
    const { accepts } = await askTerms(`${url}${path}`);
    const [terms] = accepts;
    if (terms === undefined) throw new Error('nothing is offered');
    const { messageHash } = decoded(paid);
    let landed: Uint8Array | undefined;
    await until(async () => {
      landed = await newestTransaction();
      return landed !== undefined && decodedTransaction(landed).messageHash === messageHash;
    });
    return carry(landed ?? new Uint8Array(), terms);
  }

  /** Sends a request and cuts its connection as soon as `cut` says so of what was read, or as `early` resolves; answers what was read until then. */
  function cutOff(
    path: string,
    headers: PaymentHeaders,
    cut: (read: string) => boolean,
    early: Promise<unknown> = new Promise(() => {}),
  ): Promise<string> {
    return new Promise((resolve) => {
      let read = '';
      const sent = request(`${url}${path}`, { headers, agent: false }, (res) => {
        res.on('data', (chunk: Buffer) => {
          read += chunk.toString('latin1');
          if (cut(read)) sent.destroy();
        });
      });
      sent.on('error', () => undefined).once('close', () => resolve(read));
      sent.end();
      void early.then(() => sent.destroy());
    });
  }

  /** Resolves when the node has taken one transaction more. */
  async function wasSent(): Promise<void> {
    const { sendTransaction = 0 } = fixture.sandbox.calls;
    await until(() => (fixture.sandbox.calls['sendTransaction'] ?? 0) > sendTransaction);
  }

  const get = (path: string, headers: PaymentHeaders) => fetch(`${url}${path}`, { headers });

  async function expectUsed(answer: Response): Promise<void> {
    expect(answer.status).toBe(402);
    expect(answer.headers.get('set-cookie')).toBeNull();
    expect(await answer.json()).toMatchObject({ code: 'payment_already_used' });
  }

  describe('who reads a stream to its last word and hangs up', () => {
    test('has had it: other questions and the same one are refused, and the handler has run once', async () => {
      const { v2 } = await signPayment(fixture, `${url}/ticks?q=1`);
      const read = await cutOff('/ticks?q=1', v2, (text) => text.includes('last word'));
      expect(read).toContain('/ticks?q=1 last word');
      for (const query of ['q=2', 'q=3', 'q=1', 'q=1']) {
        await until(async () => (await get(`/ticks?${query}`, v2)).status !== 409);
        await expectUsed(await get(`/ticks?${query}`, v2));
      }
      expect([runs, paid()]).toEqual([['/ticks?q=1'], PRICE]);
    });

    test('gets a short response again to the byte, cookies included, for the same question and no other', async () => {
      const { v2 } = await signPayment(fixture, `${url}/short?q=1`);
      const first = await get('/short?q=1', v2);
      const again = await get('/short?q=1', v2);
      expect([again.status, await again.text()]).toEqual([200, await first.text()]);
      expect(again.headers.get('set-cookie')).toBe(first.headers.get('set-cookie'));
      expect(receiptOf(again)).toEqual(receiptOf(first));
      await expectUsed(await get('/short?q=2', v2));
      expect([runs, paid()]).toEqual([['/short?q=1'], PRICE]);
    });
  });

  test('who cuts large pages off gets the same page to the byte, and no other one', async () => {
    const { v2 } = await signPayment(fixture, `${url}/pages?p=1`);
    await cutOff('/pages?p=1', v2, (read) => read.length > 1_000_000);
    for (const page of [2, 3, 4]) await expectUsed(await get(`/pages?p=${page}`, v2));
    for (let times = 0; times < 3; times += 1) {
      const again = await get('/pages?p=1', v2);
      expect([again.status, await again.text()]).toEqual([200, `/pages?p=1 1 ${PAGE}`]);
    }
    expect([runs, paid()]).toEqual([['/pages?p=1'], PRICE]);
  });

  describe.each(['/after', '/short'])('whose line breaks while the payment lands, on %s,', (path) => {
    test('gets the response that a stranger with the landed transaction does not', async () => {
      const { v2 } = await signPayment(fixture, `${url}${path}`);
      fixture.sandbox.pauseSlots();
      await cutOff(path, v2, () => false, wasSent());
      fixture.sandbox.resumeSlots();
      await until(() => paid() === PRICE);
      const theft = await stolen(path, v2);
      for (const headers of [theft.v2, theft.v1, { ...theft.v1, 'x-forwarded-for': '203.0.113.9' }]) {
        const answer = await get(path, headers);
        await expectUsed(answer);
      }
      await until(async () => (await get(path, v2)).status !== 409);
      const answer = await get(path, v2);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('set-cookie')).toBe('session=1');
      expect(await answer.text()).toMatch(/ 1$/);
      expect([runs.length, paid()]).toEqual([1, PRICE]);
    });
  });

  test('with version 1, who comes from the same address is the one who paid, and nobody else', async () => {
    const { v1, accepted, transaction } = await signPayment(fixture, `${url}/after?q=1`);
    const from = (address: string) => ({ ...v1, 'x-forwarded-for': address });
    const first = await get('/after?q=1', from('203.0.113.1'));
    await expectUsed(await get('/after?q=1', from('203.0.113.2')));
    await expectUsed(await get('/after?q=2', from('203.0.113.1')));
    // The nonce of a 402 of his own is no help either.
    await expectUsed(await get('/after?q=1', carry(transaction, accepted).v2));
    const again = await get('/after?q=1', from('203.0.113.1'));
    expect([again.status, await again.text()]).toEqual([200, await first.text()]);
    expect([runs.length, paid()]).toEqual([1, PRICE]);
  });

  test.each([
    ['x-forwarded-for', '203.0.113.1', '203.0.113.2'],
    ['forwarded', 'for=203.0.113.1', 'for=203.0.113.2'],
    ['x-real-ip', '203.0.113.1', '203.0.113.2'],
  ])(
    'with version 1, clients of a proxy that is not trusted are told apart by its %s',
    async (header, payer, thief) => {
      const warnings = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
      const open = await fixture.serve((app) => {
        app.get(
          '/',
          requirePayment({ facilitator: fixture.facilitator, payTo: fixture.payTo, price: '$0.01' }),
          (_, res) => res.send('sold'),
        );
      });
      const { v1 } = await signPayment(fixture, open);
      const from = (address: string) => fetch(open, { headers: { ...v1, [header]: address } });
      expect((await from(payer)).status).toBe(200);
      for (const answer of [await from(thief), await fetch(open, { headers: v1 })]) await expectUsed(answer);
      const again = await from(payer);
      expect([again.status, await again.text(), paid()]).toEqual([200, 'sold', PRICE]);
      const told = warnings.mock.calls.filter(([, it]) => Reflect.get(Object(it), 'code') === 'TOLLHOUSE_TRUST_PROXY');
      expect(told).toHaveLength(header === 'x-real-ip' ? 0 : 1);
      warnings.mockRestore();
    },
  );

  test.each([
    ['203.0.113.7:1111', '203.0.113.7:2222'],
    ['[2001:db8::7]:80', '[2001:db8::7]:81'],
    ['2001:db8::7', '[2001:db8::7]:81'],
  ])('with version 1, a proxy that writes ports makes nobody another client: %s, %s', async (first, second) => {
    const { v1 } = await signPayment(fixture, `${url}/after?q=1`);
    const from = (address: string) => get('/after?q=1', { ...v1, 'x-forwarded-for': address });
    expect((await from(first)).status).toBe(200);
    await expectUsed(await from('203.0.113.8:1111'));
    const again = await from(second);
    expect([again.status, await again.text()]).toEqual([200, 'after /after?q=1 1']);
    expect([runs.length, paid()]).toEqual([1, PRICE]);
  });

  test('an invented identifier opens nothing, the payer’s own opens the response again', async () => {
    const { accepts } = await askTerms(`${url}/named`);
    const signed = await signPayment(fixture, `${url}/named`);
    const named = (payment: SignedPayment, id: string): PaymentHeaders => {
      const { nonce: _nonce, ...extra } = payment.accepted.extra ?? {};
      const payload = { transaction: Buffer.from(payment.transaction).toString('base64') };
      const accepted = { ...accepts[0], extra };
      const extensions = { [IDENTIFIER]: { info: { required: true, id } } };
      return {
        'payment-signature': Buffer.from(JSON.stringify({ x402Version: 2, accepted, payload, extensions })).toString(
          'base64',
        ),
      };
    };
    const first = await get('/named', named(signed, 'the-payers-own-identifier'));
    expect(first.status).toBe(200);
    await expectUsed(await get('/named', named(signed, 'an-invented-identifier-1')));
    const again = await get('/named', named(signed, 'the-payers-own-identifier'));
    expect([again.status, await again.text()]).toEqual([200, 'named 1']);
    expect([runs.length, paid()]).toEqual([1, PRICE]);
  });

  describe('a handler that fails behind settle: "before"', () => {
    test('leaves its payment to the payer, not to a stranger who has read it from the chain', async () => {
      failures = 1;
      const { v2 } = await signPayment(fixture, `${url}/failing`);
      expect((await get('/failing', v2)).status).toBe(503);
      const theft = await stolen('/failing', v2);
      await expectUsed(await get('/failing', theft.v2));
      await expectUsed(await get('/failing', { ...theft.v1, 'x-forwarded-for': '203.0.113.9' }));
      await expectUsed(await get('/failing?other', v2));
      const again = await get('/failing', v2);
      expect([again.status, await again.text()]).toEqual([200, 'at last 2']);
      expect([runs.length, paid()]).toEqual([2, PRICE]);
    });

    test('is run again for its payer, however often it fails, and charged once', async () => {
      failures = 10;
      const { v2 } = await signPayment(fixture, `${url}/failing`);
      const statuses: number[] = [];
      for (let times = 0; times < 5; times += 1) statuses.push((await get('/failing', v2)).status);
      expect(statuses).toEqual([503, 503, 503, 503, 503]);
      expect([runs.length, paid()]).toEqual([5, PRICE]);
    });
  });

  test.each([
    ['price', { price: '$0.02' }],
    ['recipient', { payTo: 'B4RvNpz2DhCZBUPrxXA8Y1x9GzEaHBAKdnZKTMsTdSzD' }],
    ['memo', { memo: 'order 7' }],
    ['time-out', { maxTimeoutSeconds: 30 }],
  ])(
    'another %s asked today does not take the response from who has paid what was asked then',
    async (_what, changed) => {
      const { v2 } = await signPayment(fixture, `${url}/after?q=1`);
      const first = await get('/after?q=1', v2);
      const today = await fixture.serve((app) => {
        const gated = { facilitator: fixture.facilitator, payTo: fixture.payTo, price: '$0.01', ...changed };
        app.get('/after', requirePayment(gated), (_req, res) => void res.send('never'));
      });
      const again = await fetch(`${today}/after?q=1`, { headers: v2 });
      expect([again.status, await again.text()]).toEqual([200, await first.text()]);
      await expectUsed(await fetch(`${today}/after?q=1`, { headers: (await stolen('/after?q=1', v2)).v2 }));
    },
  );

  test('terms of another day are nothing for a payment that was given back unsent, whatever was known of it before', async () => {
    const memory = createMemoryLedger();
    let stale: PaymentRecord | undefined;
    const ledger = ledgerWith(memory, { find: async (id) => stale ?? memory.find(id) });
    const facilitator = fixture.facilitatorWith({ ledger });
    const routes = await fixture.serve((app) => {
      const gated = { facilitator, payTo: fixture.payTo, settle: 'before' } as const;
      app.get('/then', requirePayment({ ...gated, price: '$0.01' }), (_req, res) => void res.send('never'));
    });
    const today = await fixture.serve((app) => {
      const gated = { facilitator, payTo: fixture.payTo, settle: 'before' } as const;
      app.get('/then', requirePayment({ ...gated, price: '$0.02' }), (_req, res) => void res.send('for less'));
    });
    const { v2, accepted } = await signPayment(fixture, `${routes}/then`);
    const { messageHash: id } = decoded(v2);
    stale = { ...recordOf(accepted), id };
    const answer = await fetch(`${today}/then`, { headers: v2 });
    expect([answer.status, (await answer.json()) as object]).toMatchObject([402, { code: 'no_matching_requirements' }]);
    expect([paid(), await memory.find(id)]).toEqual([0n, undefined]);
  });

  describe.each([
    ['a SQLite file', true],
    ['memory that outlives the facilitator', false],
  ])('on %s', (_where, isFile) => {
    test('the response is there after a restart and on another instance, for the payer only', async () => {
      const storage = isFile ? await openStorage(`sqlite:${folder.newPath('db')}`) : undefined;
      const { ledger, idempotency } = storage ?? {
        ledger: createMemoryLedger(),
        idempotency: createMemoryIdempotencyStore(),
      };
      const [first, second] = [
        fixture.facilitatorWith({ ledger, idempotency }),
        fixture.facilitatorWith({ ledger, idempotency }),
      ];
      const one = await fixture.serve((app) => routes(app, first));
      const two = await fixture.serve((app) => routes(app, second));
      for (const path of ['/after?q=1', '/short?q=1']) {
        runs = [];
        const { v2 } = await signPayment(fixture, `${one}${path}`);
        const given = await fetch(`${one}${path}`, { headers: v2 });
        const again = await fetch(`${two}${path}`, { headers: v2 });
        expect([again.status, await again.text()]).toEqual([200, await given.text()]);
        await expectUsed(await fetch(`${two}${path}`, { headers: (await stolen('/after', v2)).v2 }));
        expect(runs).toHaveLength(1);
      }
    });
  });
});

/** The transaction that a payment header carries. */
function decoded(headers: PaymentHeaders) {
  const payload = JSON.parse(Buffer.from(headers['payment-signature'] ?? '', 'base64').toString()) as {
    payload: { transaction: string };
  };
  return decodedTransaction(Buffer.from(payload.payload.transaction, 'base64'));
}

function decodedTransaction(bytes: Uint8Array) {
  const read = decodeTransaction(bytes);
  if (!read.ok) throw new Error(read.detail);
  return read.transaction;
}

/** What the ledger knew of a payment on these terms when it had just been sent. */
function recordOf(accepted: SignedPayment['accepted']): Omit<PaymentRecord, 'id'> {
  const terms = readTerms(accepted, 'accepted');
  if (!terms.ok) throw new Error(terms.detail);
  return { state: 'broadcast', binding: '', payer: '', terms: terms.value, blockhash: '', claimedAt: 0 };
}
