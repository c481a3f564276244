import { decode } from 'jsonwebtoken';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { signPayment } from '../../helpers/transactions/payments.js';

/** Longer than what is kept of a response. */
const LONG = 'x'.repeat(2 ** 21);

describe('a payment for a pass whose response was too long to be kept', () => {
  let fixture: TollFixture;
  let url: string;
  beforeAll(async () => {
    fixture = await openTollFixture();
    const facilitator = fixture.facilitatorWith({ storage: await openStorage('memory:') });
    const sold = { facilitator, payTo: fixture.payTo, price: '$0.50', pass: { uses: 5 }, settle: 'before' } as const;
    const host = await fixture.serve((app) => {
      app.get('/report', requirePayment(sold), (_req, res) => {
        res.write(LONG);
        res.end();
      });
    });
    url = `${host}/report`;
  });
  afterAll(() => fixture.close());

  /** The same payment shown twice. */
  async function shownTwice(version: 'v1' | 'v2') {
    const payer = await fixture.sandbox.createWallet({ usdc: '1' });
    const headers = (await signPayment({ ...fixture, payer }, url))[version];
    const first = await fetch(url, { headers });
    expect([first.status, (await first.text()).length]).toEqual([200, LONG.length]);
    const second = await fetch(url, { headers });
    const { code, detail } = (await second.json()) as { readonly code: string; readonly detail: string };
    expect([second.status, code]).toEqual([402, 'payment_already_used']);
    // Tokens of one pass differ in when they were made.
    const [bought, told] = [first, second].map(
      (it) => decode(it.headers.get('access-pass') ?? '', { json: true })?.jti,
    );
    return { bought, told, detail };
  }

  test('tells what it has bought, and its token, to whoever shows what is not on the chain', async () => {
    const { bought, told, detail } = await shownTwice('v2');

    expect(bought).toMatch(/^pas_/);
    expect(told).toBe(bought);
    expect(detail).toContain('4 uses are left of what it has bought: show that by its Access-Pass');
  });

  test('tells whoever comes from the same address with what is on the chain no token', async () => {
    const { bought, told, detail } = await shownTwice('v1');

    expect(bought).toMatch(/^pas_/);
    expect(told).toBeUndefined();
    expect(detail).toContain('show the Access-Pass that an earlier response has brought');
  });
});
