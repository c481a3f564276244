import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { problem } from '../../src/errors/errors.js';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { writeHeader } from '../../src/protocol/wire/json.js';
import { openPayFixture, type PayFixture } from '../helpers/fixtures/cli-fixture.js';

/** What somebody between the buyer and the shop answers. */
interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const NETWORK = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
const HELD = 5_000_000n;
const PRICE = 500_000n;

describe('a payment whose answer is not the one of the shop', () => {
  let fixture: PayFixture;
  let front: string;
  let runs = 0;
  /** Put in the place of the shop's next answer to a payment. */
  let mask: Answer | undefined;
  /** Whether what is put in its place is the shop's own word: the payment does not get through then. */
  let isHonest = false;

  beforeAll(async () => {
    fixture = await openPayFixture();
    const shop = await fixture.serve((app) => {
      app.get('/report', requirePayment(fixture.sold), (_req, res) => {
        runs += 1;
        res.send('bought');
      });
    });
    front = await fixture.serve((app) => {
      app.use(async (req, res) => {
        const payment = req.get('payment-signature');
        const own = payment === undefined ? undefined : mask;
        if (own !== undefined) mask = undefined;
        const headers: Record<string, string> =
          payment === undefined || (own !== undefined && isHonest) ? {} : { 'payment-signature': payment };
        const answer = await fetch(shop + req.url, { headers });
        const body = await answer.text();
        const told = ['payment-required', 'payment-response', 'content-type'].flatMap((name) => {
          const value = answer.headers.get(name);
          return value === null ? [] : [[name, value] as const];
        });
        const given = own ?? { status: answer.status, headers: Object.fromEntries(told), body };
        res.writeHead(given.status, given.headers).end(given.body);
      });
    });
  });
  afterAll(() => fixture.close());
  beforeEach(async () => {
    await fixture.newBuyer('5');
    [mask, isHonest, runs] = [undefined, false, 0];
  });

  const pay = (...more: readonly string[]) => fixture.run(...fixture.payArgs(`${front}/report`), ...more);
  const kept = () => {
    const folder = join(fixture.folder, 'tollhouse/payments');
    return existsSync(folder) ? readdirSync(folder).length : 0;
  };
  const resumeArgs = (text: string) => ['pay', '--resume', /--resume (\S+\.json)/.exec(text)?.[1] ?? ''];
  const failed = (reason: string, transaction = '', errorMessage = '') =>
    writeHeader({ success: false, errorReason: reason, errorMessage, transaction, network: NETWORK });

  test.each<[string, Answer]>([
    ['a filter', { status: 403, headers: { 'content-type': 'text/html' }, body: '<h1>blocked</h1>' }],
    ['a proxy that is too slow', { status: 408 }],
    ['a proxy that takes no long answer', { status: 413, body: 'too large' }],
    ['a proxy that finds nobody', { status: 404, body: '{"code":"not_found","error":"no such host"}' }],
    ['a proxy that fails', { status: 520 }],
    ['somebody who asks to be paid, and not by x402', { status: 402, body: '{"error":"no"}' }],
    ['a network to log in at', { status: 200, headers: { 'content-type': 'text/html' }, body: '<h1>log in</h1>' }],
    ['a network that sends to its login', { status: 302, headers: { location: 'http://127.0.0.1:1/login' } }],
  ])(
    'is kept where %s has answered, and never called unpaid; sent again it brings what was bought',
    async (_who, it) => {
      mask = it;
      const lost = await pay();
      expect(lost.code).toBe(1);
      expect(lost.text).toMatch(new RegExp(`not known +${it.status}: `));
      expect(lost.text).not.toContain('not paid');
      expect(await fixture.run(...resumeArgs(lost.text))).toMatchObject({ code: 0, out: 'bought' });
      expect([fixture.held(), runs, kept()]).toEqual([HELD - PRICE, 1, 0]);
    },
  );

  test.each([403, 200, 302])('is null in JSON, with what sends it again, after a %d of somebody', async (status) => {
    mask = { status, body: 'somebody' };
    const lost = await pay('--json');
    const { again, ...told } = JSON.parse(lost.out);
    expect([lost.code, told]).toMatchObject([1, { status, paid: null, receipt: null }]);
    const found = await fixture.run(...resumeArgs(again), '--json');
    expect(JSON.parse(found.out)).toMatchObject({ status: 200, paid: true, body: 'bought' });
    expect(fixture.held()).toBe(HELD - PRICE);
  });

  test('leaves the page of somebody in the file for what was bought, and what was bought goes to another', async () => {
    mask = { status: 200, body: 'log in' };
    const [first, second] = [join(fixture.folder, 'first'), join(fixture.folder, 'second')];
    const lost = await pay('--out', first);
    expect(lost.text).toContain('it may be what was bought, or the page of somebody in between');
    expect((await fixture.run(...resumeArgs(lost.text), '--out', second)).code).toBe(0);
    expect([first, second].map((it) => readFileSync(it, 'utf8'))).toEqual(['log in', 'bought']);
  });

  test.each<[string, Answer]>([
    ['may have landed', { status: 402, headers: { 'PAYMENT-RESPONSE': failed('settlement_pending') } }],
    ['was used before', { status: 402, headers: { 'PAYMENT-RESPONSE': failed('duplicate_settlement') } }],
    [
      'was sent, and may have moved the money',
      { status: 402, headers: { 'PAYMENT-RESPONSE': failed('post_settlement_transfer_not_confirmed', 'sig') } },
    ],
    [
      'was sent, and cannot be remembered',
      {
        status: 402,
        headers: { 'PAYMENT-RESPONSE': failed('transaction_failed', 'sig', 'settlement_pending, but failed') },
      },
    ],
    [
      'was used before, says a Tollhouse',
      { status: 402, body: JSON.stringify(problem('payment_already_used', 'used')) },
    ],
  ])('is kept where a seller says that it %s', async (_what, it) => {
    mask = it;
    const lost = await pay();
    expect([lost.code, lost.text]).toEqual([1, expect.stringMatching(/not known +402/)]);
    expect(await fixture.run(...resumeArgs(lost.text))).toMatchObject({ code: 0, out: 'bought' });
  });

  const terms = {
    scheme: 'exact',
    network: NETWORK,
    asset: 'x',
    amount: '1',
    payTo: 'x',
    maxTimeoutSeconds: 9,
    extra: {},
  };
  const resource = { url: 'http://127.0.0.1/report', description: '', mimeType: '' };
  const asksV2 = writeHeader({ x402Version: 2, error: 'invalid_payload', resource, accepts: [terms] });
  const asksV1 = {
    x402Version: 1,
    error: 'invalid_payload',
    accepts: [
      { ...terms, network: 'solana', maxAmountRequired: '1', resource: resource.url, description: '', mimeType: '' },
    ],
  };
  test.each<[string, Answer]>([
    ['asks to pay by x402', { status: 402, headers: { 'PAYMENT-REQUIRED': asksV2 }, body: '{}' }],
    ['asks to pay by x402, version 1', { status: 402, body: JSON.stringify(asksV1) }],
    [
      'says that it has failed',
      { status: 402, headers: { 'PAYMENT-RESPONSE': failed('transaction_failed') }, body: '{}' },
    ],
    [
      'says that it has failed on the chain',
      { status: 402, headers: { 'PAYMENT-RESPONSE': failed('transaction_failed', 'sig') }, body: '{}' },
    ],
    ['refuses it as a Tollhouse', { status: 403, body: JSON.stringify(problem('wallet_denied', 'not here')) }],
  ])('is not paid and not kept where the seller %s', async (_how, it) => {
    [mask, isHonest] = [it, true];
    const before = kept();
    const refused = await pay();
    expect([refused.code, refused.text]).toEqual([1, expect.stringMatching(new RegExp(`not paid +${it.status}: `))]);
    expect(refused.text).not.toContain('--resume');
    [mask] = [it];
    expect(JSON.parse((await pay('--json')).out)).toMatchObject({ status: it.status, paid: false });
    expect([fixture.held(), kept()]).toEqual([HELD, before]);
  });
});
