import { NO_BRAND } from '../../../src/pages/layout/page-brand.js';
import type { PaywallContent } from '../../../src/pages/paywall/paywall-content.js';
import { paywallPage } from '../../../src/pages/paywall/paywall-page.js';
import { EN } from '../../../src/pages/texts/en.js';

const OFFER = { asset: 'mint', amount: '10000', price: '0.01 USDC', token: 'USDC', payTo: 'SellersWallet' };

const pageOf = (url: string, more: Partial<PaywallContent> = {}) =>
  paywallPage({
    ...{ texts: EN, brand: NO_BRAND, network: 'solana-devnet', isUpfront: false, isFeePaid: true },
    resource: { url },
    request: { method: 'GET', key: 'key' },
    offers: [OFFER, { ...OFFER, asset: 'other', price: '0.02 USDT', token: 'USDT', bought: { uses: 100 } }],
    ...more,
  });
const page = (url: string, more?: Partial<PaywallContent>) => pageOf(url, more).html;

test('shows every price, and what each buys', () => {
  const text = page('https://seller.example/a').replace(/<[^>]+>/g, '');
  expect(text).toMatch(/0\.01 USDC once.*0\.02 USDT 100 requests/s);
});

test.each<[string, Partial<PaywallContent>]>([
  ['a description', { resource: { url: 'https://seller.example/', description: '<img src=x onerror=alert(1)>' } }],
  ['an address', { resource: { url: 'https://seller.example/?q="><script>alert(1)</script>' } }],
  ['a problem', { problem: { code: 'x', detail: '</p><script>alert(1)</script>' } }],
  ['the name of a site', { brand: { ...NO_BRAND, name: '<script>alert(1)</script>', logo: '"><script>alert(1)' } }],
  ['what is bought', { offers: [{ ...OFFER, bought: { group: '<script>alert(1)</script>' } }] }],
  ['a token', { offers: [{ ...OFFER, price: '1 </script><script>alert(1)</script>', token: '<!--<script>' }] }],
  ['a form', { request: { method: 'POST', key: '</script>', body: { type: '</script><script>', base64: '<!--' } } }],
  ['a sign-in', { signIn: { chainId: '<!--', info: { statement: '</script><script>alert(1)</script>' } } }],
])('no text of others can become markup: %s', (_what, more) => {
  const html = page('https://seller.example/', more);
  expect([...html.matchAll(/<script[^>]*>/g)].map(([tag]) => tag)).toEqual([
    '<script type="application/json" id="data">',
    expect.stringMatching(/^<script nonce="[\w+/=]{24}">$/),
  ]);
  expect([html.match(/<\/script>/g)?.length, html.includes('<!--'), html.includes('<img src=x')]).toEqual([
    2,
    false,
    false,
  ]);
});

test.each([
  ['fee_limit_reached', EN.noMoreThisHour],
  ['payment_backend_unavailable', EN.tryLater],
  ['store_unavailable', EN.tryLater],
] as const)('the outage %s is told as what it is, and nothing is for sale then', (outage, text) => {
  const html = page('https://seller.example/', { outage, offers: [] });
  expect([html.includes(`<h1>${EN.unavailable}</h1>`), html.includes(text)]).toEqual([true, true]);
  expect([html.includes(`<code>${outage}</code>`), html.includes('class="price"')]).toEqual([true, false]);
});

test('the policy lets run what has the nonce of this one page, and nothing unsafe', () => {
  const [one, other] = [pageOf('https://seller.example/'), pageOf('https://seller.example/')];
  const [, nonce] = /<script nonce="([^"]+)">/.exec(one.html) ?? [];
  const policy = one.headers['Content-Security-Policy'];
  expect(policy).toContain(`script-src 'nonce-${nonce}'`);
  expect(policy).not.toContain('unsafe');
  expect(other.headers['Content-Security-Policy']).not.toBe(policy);
});

test.each([
  ['a command substitution', 'https://seller.example/$(reboot)', `&#39;https://seller.example/$(reboot)&#39;`],
  ['a second command', 'https://seller.example/a;reboot&b', `&#39;https://seller.example/a;reboot&amp;b&#39;`],
  ['a quote', "https://seller.example/a'b", `&#39;https://seller.example/a%27b&#39;`],
])('the line to paste stays one word of a shell: %s', (_, url, shown) => {
  expect(page(url)).toContain(`npx tollhouse pay ${shown} --keypair`);
});
