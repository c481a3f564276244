import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { requireTokenBalance } from '../../src/middleware/wallet/require-token-balance.js';
import type { PaywallTerms, RenderPaywall } from '../../src/pages/layout/own-page.js';
import { HAS_BROWSER, WHY_NOT } from '../helpers/browser/browser.js';
import { ESSAY, usePaywallStand } from '../helpers/browser/paywall-stand.js';

const PAY = 'Pay 0.50 USDC with Test Wallet';

(HAS_BROWSER ? describe : describe.skip)(`a page of the seller's own, in Chromium${WHY_NOT}`, () => {
  const stand = usePaywallStand();
  const warnings: string[] = [];
  beforeEach(() => {
    warnings.length = 0;
    jest.spyOn(process, 'emitWarning').mockImplementation((text, options) => {
      warnings.push(`${Reflect.get(Object(options), 'code')} ${text}`);
    });
  });
  afterEach(() => jest.restoreAllMocks());

  async function open(render: RenderPaywall, options: object = {}) {
    const { facilitator, fixture } = stand;
    const sold = { facilitator, payTo: fixture.payTo, price: '$0.50', description: 'An essay', page: { render } };
    const url = await fixture.serve((app) => {
      app.get('/essay', requirePayment({ ...sold, ...options }), (_req, res) => void res.type('html').send(ESSAY));
      app.get('/club', requireTokenBalance({ facilitator, mint: 'USDC', minBalance: 5, page: { render } }));
    });
    return { url, answer: await stand.page().goto(`${url}/essay`) };
  }

  test('is sent with the 402, is told what the built-in one knows, and pays with its script', async () => {
    const wallet = await stand.wallet();
    const told: PaywallTerms[] = [];
    const { answer, url } = await open((terms, req) => {
      told.push(terms);
      const places = '<div id="action"></div><p id="status"></p>';
      return `<!doctype html><title>ours</title><h1>${req.path}: ${terms.offers[0]?.price}</h1>${places}${terms.script}`;
    });
    expect([answer?.status(), await stand.page().textContent('h1')]).toEqual([402, '/essay: 0.50 USDC']);
    const headers = await answer?.allHeaders();
    expect(headers).toMatchObject({
      'content-security-policy': expect.stringContaining(`script-src 'nonce-${told[0]?.nonce}'`),
      'cache-control': 'no-store',
      'payment-required': expect.any(String),
      'x-content-type-options': 'nosniff',
    });
    const { payTo } = stand.fixture;
    expect(told).toMatchObject([
      {
        ...{ url: `${url}/essay`, description: 'An essay', network: 'solana-devnet', networkName: 'Solana devnet' },
        ...{ canSignIn: false, isFeePaid: true, isWaiting: false, language: 'en' },
        offers: [{ price: '0.50 USDC', token: 'USDC', amount: '500000', buys: 'once', payTo: payTo.toString() }],
      },
    ]);
    await stand.press(PAY);
    await stand.read();
    expect([wallet.signed(), stand.settled(), stand.faults, warnings]).toEqual([1, 1, [], []]);
  });

  test('stands around the terms of the built-in one, and has offers chosen there', async () => {
    await stand.wallet();
    const render: RenderPaywall = async ({ card, style, script }) =>
      `<!doctype html><title>ours</title>${style}<nav>ours</nav><main>${card}</main>${script}`;
    await open(render, { price: ['$0.10', { price: '$0.50', pass: { for: '24h' } }] });
    await stand.page().waitForSelector('nav');
    await stand.page().click('label:has-text("0.50 USDC")');
    await stand.press(PAY);
    await stand.read();
    expect([stand.settled(), stand.faults]).toEqual([1, []]);
  });

  test('signs in at a gate for wallets, and says why one was not enough', async () => {
    await stand.wallet({ keypair: await stand.fixture.sandbox.createWallet({ usdc: '1' }) });
    const render: RenderPaywall = ({ canSignIn, problem, card, script }) =>
      `<!doctype html><title>ours</title><nav>${canSignIn}: ${problem?.code}</nav>${card}${script}`;
    const { url } = await open(render);
    await stand.page().goto(`${url}/club`);
    expect(await stand.page().textContent('nav')).toBe('true: undefined');
    await stand.press('Sign in with Test Wallet');
    await stand.page().waitForSelector('nav:has-text("true: insufficient_balance")');
  });

  test('has the policy that its function says, and that of the built-in one otherwise', async () => {
    const { answer } = await open(() => ({ html: '<p>ours</p>', contentSecurityPolicy: "default-src 'self'" }));
    expect(await answer?.headerValue('content-security-policy')).toBe("default-src 'self'");
    const { answer: other } = await open(() => ({ html: '<p id="ours">ours</p><script>window.ran = 1</script>' }));
    expect(await other?.headerValue('content-security-policy')).toContain("default-src 'none'");
    expect(await stand.page().evaluate('[document.getElementById("ours").id, window.ran]')).toEqual([
      'ours',
      undefined,
    ]);
  });

  test.each<[string, unknown, RegExp]>([
    ['throws', () => Promise.reject(new Error('no template')), /"page.render" threw: Error: no template/],
    ['never answers', () => new Promise(() => {}), /"page.render" threw: Error: no page within 5 seconds/],
    ['answers nothing', () => undefined, /"page.render" must answer HTML/],
    ['answers no text', () => 7, /must answer HTML/],
    ['answers too much', () => 'x'.repeat(1_000_001), /must answer HTML/],
    [
      'answers a policy of two lines',
      () => ({ html: 'x', contentSecurityPolicy: 'a\r\nSet-Cookie: b' }),
      /must answer contentSecurityPolicy: a policy in one line/,
    ],
    ['answers an unknown field', () => ({ html: 'x', csp: 'a' }), /must answer HTML/],
  ])('is the built-in one, which pays, where its function %s', async (_what, render, warning) => {
    await stand.wallet();
    const { answer } = await open(render as RenderPaywall);
    expect(answer?.status()).toBe(402);
    expect(warnings).toEqual([expect.stringMatching(warning)]);
    expect(warnings[0]).toMatch(/^TOLLHOUSE_PAGE .*; the built-in page was sent instead$/);
    await stand.press(PAY);
    await stand.read();
  });

  test('is not for programs, nor for the paywall in a page of the site', async () => {
    const { url } = await open(() => 'ours');
    const types = ['application/json', 'text/html,application/vnd.tollhouse.paywall+json'].map(async (accept) => {
      const { status, headers } = await fetch(`${url}/essay`, { headers: { Accept: accept } });
      return [status, headers.get('Content-Type'), headers.has('PAYMENT-REQUIRED')];
    });
    expect(await Promise.all(types)).toEqual([
      [402, 'application/json; charset=utf-8', true],
      [402, 'application/vnd.tollhouse.paywall+json; charset=utf-8', true],
    ]);
  });

  test('must be written by a function', () => {
    const { facilitator, fixture } = stand;
    const page = { render: '<p>ours</p>' as never };
    expect(() => requirePayment({ facilitator, payTo: fixture.payTo, price: '$1', page })).toThrow(
      'a function of the terms that answers HTML',
    );
  });
});
