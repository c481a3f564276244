import { paywallPage } from '../../../src/pages/paywall.js';

const page = (url: string, description?: string) =>
  paywallPage({
    resource: { url, ...(description === undefined ? {} : { description }) },
    prices: ['0.01 USDC', '0.02 USDT'],
    network: 'Solana devnet',
  });

test('shows every price', () => {
  expect(page('https://seller.example/a')).toContain('0.01 USDC <small>or</small> 0.02 USDT');
});

test('text of others cannot become markup', () => {
  const html = page('https://seller.example/?q="><script>alert(1)</script>', '<img src=x onerror=alert(1)>');
  expect(html).not.toContain('<script');
  expect(html).not.toContain('<img');
});

test.each([
  ['a command substitution', 'https://seller.example/$(reboot)', `&#39;https://seller.example/$(reboot)&#39;`],
  ['a second command', 'https://seller.example/a;reboot&b', `&#39;https://seller.example/a;reboot&amp;b&#39;`],
  ['a quote', "https://seller.example/a'b", `&#39;https://seller.example/a%27b&#39;`],
])('the line to paste stays one word of a shell: %s', (_, url, shown) => {
  expect(page(url)).toContain(`npx tollhouse pay ${shown} --keypair`);
});
