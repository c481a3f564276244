import type { Express, RequestHandler } from 'express';
import { anyOf } from '../../../src/middleware/gate/any-of.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { requireTier } from '../../../src/middleware/wallet/require-tier.js';
import { requireTokenBalance } from '../../../src/middleware/wallet/require-token-balance.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { buyPass } from '../../helpers/http/passes.js';
import { signIn } from '../../helpers/http/sign-in.js';
import { walletKey } from '../../helpers/transactions/wallet-key.js';

const tell: RequestHandler = (_req, res) => void res.send('come in');
const nft = walletKey('an NFT').address;
let fixture: TollFixture;
let url: string;
let points: string;

beforeAll(async () => {
  fixture = await openTollFixture();
  const { facilitator, sandbox } = fixture;
  points = sandbox.createMint({ decimals: 2 }).mint;
  const levels = [{ id: 'patron', name: 'Patron of the <arts>', minBalance: 20, features: [] }];
  const usdc = requireTokenBalance({ facilitator, mint: 'USDC', minBalance: '100.50' });
  const patron = requireTier({ facilitator, tiers: { mint: points, levels } });
  url = await fixture.serve((app: Express) => {
    app.get('/usdc', usdc, tell);
    app.get('/any', requireTokenBalance({ facilitator, mint: 'USDC', minBalance: 0 }), tell);
    app.get('/sol', requireTokenBalance({ facilitator, mint: 'SOL', minBalance: 2 }), tell);
    app.get('/points', requireTokenBalance({ facilitator, mint: points, minBalance: 5 }), tell);
    app.get('/nft', requireTokenBalance({ facilitator, collection: [nft] }), tell);
    app.get('/nfts', requireTokenBalance({ facilitator, collection: { creator: nft }, minBalance: 3 }), tell);
    app.get('/tier', patron, tell);
    app.get('/gold', requireTier({ facilitator, tier: 'gold' }), tell);
    app.get('/either', anyOf(usdc, patron), tell);
    app.get('/both', usdc, patron, tell);
    const sold = requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.25' });
    const pass = { uses: 10, group: 'club' };
    const holders = [{ mint: 'USDC', minBalance: 7, price: '$0.01' }];
    app.get('/paid', sold, tell);
    app.get('/tier-or-paid', anyOf(patron, sold), tell);
    app.get('/paid-or-all', anyOf(sold, anyOf(usdc, patron)), tell);
    app.get(
      '/cheaper',
      anyOf(patron, requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.25', holders })),
      tell,
    );
    const ticket = requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.50', pass });
    app.get('/ticket', ticket, tell);
    app.get('/twice', anyOf(patron, ticket), sold, tell);
  });
});
afterAll(() => fixture.close());

const visit = (path: string, language: string, headers = {}, accept = 'text/html') =>
  fetch(`${url}${path}`, { headers: { accept, 'accept-language': language, ...headers } });
async function noteOf(path: string, language = 'en', status = 401): Promise<string | undefined> {
  const page = await visit(path, language);
  expect(page.status).toBe(status);
  return /<p class="soft small">(.*)<\/p>/.exec(await page.text())?.[1];
}

describe('the page that asks a browser to sign in', () => {
  test('says which token has to be held, and how much of it', async () => {
    expect(await noteOf('/usdc')).toBe('Open to wallets that hold at least 100.50 USDC.');
    expect(await noteOf('/sol')).toBe('Open to wallets that hold at least 2 SOL.');
    expect(await noteOf('/points')).toBe(`Open to wallets that hold at least 5 ${points}.`);
  });

  test('asks for a wallet and for nothing more where it need not hold anything', async () => {
    const page = await (await visit('/any', 'en')).text();

    expect(page).toContain('<h1>Sign in with your wallet</h1>');
    expect(page).not.toMatch(/hold at least|for members/);
    expect(await (await visit('/any', 'de')).text()).toContain('<h1>Mit der eigenen Wallet anmelden</h1>');
  });

  test('says how many NFTs of a collection have to be held', async () => {
    expect(await noteOf('/nft')).toBe('Open to wallets that hold at least one NFT of a collection.');
    expect(await noteOf('/nfts')).toBe('Open to wallets that hold at least 3 NFTs of a collection.');
  });

  test('says which tier has to be reached, by its name, and where that begins', async () => {
    expect(await noteOf('/tier')).toContain(`20 ${points} (tier “Patron of the &lt;arts&gt;”)`);
    expect(await noteOf('/gold')).toBe('Open to wallets that hold at least 10,000 USDC (tier “Gold”).');
  });

  test('names all of which any is enough, and the first of two gates of which both have to be passed', async () => {
    expect(await noteOf('/either')).toMatch(/at least 100\.50 USDC or 20 \w+ \(tier “Patron/);
    expect(await noteOf('/both')).toBe(await noteOf('/usdc'));
  });

  test.each(['de', 'es', 'fr', 'zh', 'ja'])(
    'says it in %s to who reads that, with no place left open',
    async (language) => {
      for (const [path, held] of [
        ['/usdc', language === 'zh' || language === 'ja' ? '100.50 USDC' : '100,50 USDC'],
        ['/nft', 'NFT'],
        ['/nfts', '3'],
        ['/gold', 'Gold'],
      ] as const) {
        const note = (await noteOf(path, language)) ?? '';
        expect(note).toContain(held);
        expect(note).not.toMatch(/[{}]|Open to/);
      }
    },
  );

  test('says it to a page of the site that shows it itself', async () => {
    const answer = await visit('/usdc', 'en', {}, 'application/vnd.tollhouse.paywall+json');
    expect(await answer.json()).toMatchObject({ note: 'Open to wallets that hold at least 100.50 USDC.' });
  });

  test('says what a wallet lacks that has signed in, and nothing twice', async () => {
    const stranger = walletKey('a stranger to the club');
    const page = await visit('/usdc', 'en', await signIn(stranger, `${url}/usdc`));
    const text = await page.text();
    expect([page.status, /has 0 USDC. It takes 100.50 USDC/.test(text)]).toEqual([403, true]);
    expect(text).not.toContain('Open to wallets');
  });
});

describe('the page that asks a browser to pay where holders come in as well', () => {
  const atLeast = 'Wallets that hold at least';

  test('says what has to be held, and that nothing is paid then', async () => {
    const said = await noteOf('/tier-or-paid', 'en', 402);
    expect(said).toBe(
      `${atLeast} 20 ${points} (tier “Patron of the &lt;arts&gt;”) come in by signing in, without paying.`,
    );
  });

  test('names every way in, whichever gate stands first, and however they are nested', async () => {
    expect(await noteOf('/paid-or-all', 'en', 402)).toMatch(/at least 100\.50 USDC or 20 \w+ \(tier “Patron/);
  });

  test('says nothing of it where there is no such way', async () => {
    expect(await noteOf('/paid', 'en', 402)).toBeUndefined();
  });

  test('says beside it what holders pay', async () => {
    const said = await noteOf('/cheaper', 'en', 402);
    expect(said).toMatch(new RegExp(`^${atLeast} 20 .* without paying\\. .*0\\.01 USDC`));
  });

  test.each(['de', 'es', 'fr', 'zh', 'ja'])('says it in %s to who reads that', async (language) => {
    const said = (await noteOf('/tier-or-paid', language, 402)) ?? '';
    expect(said).toContain(`20 ${points}`);
    expect(said).not.toMatch(/[{}]|Wallets that hold/);
  });

  test('says it to a page of the site that shows it itself, and not to programs', async () => {
    const answer = await visit('/tier-or-paid', 'en', {}, 'application/vnd.tollhouse.paywall+json');
    expect(await answer.json()).toMatchObject({ note: expect.stringContaining('without paying') });
    expect(await (await visit('/tier-or-paid', 'en', {}, '*/*')).text()).not.toContain(atLeast);
  });

  test('says what a wallet lacks that has signed in, and nothing twice', async () => {
    const headers = await signIn(walletKey('another stranger'), `${url}/tier-or-paid`);
    const page = await visit('/tier-or-paid', 'en', headers);
    const text = await page.text();
    expect([page.status, text.includes('class="problem"'), text.includes(atLeast)]).toEqual([402, true, false]);
  });

  test('says nothing of what opens the gate before it alone', async () => {
    const { token } = await buyPass(fixture, `${url}/ticket`);
    const page = await visit('/twice', 'en', token);
    expect([page.status, (await page.text()).includes(atLeast)]).toEqual([402, false]);
  });
});
