import type { Express, RequestHandler } from 'express';
import { anyOf } from '../../../src/middleware/gate/any-of.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { requireTier } from '../../../src/middleware/wallet/require-tier.js';
import { requireTokenBalance } from '../../../src/middleware/wallet/require-token-balance.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { signIn } from '../../helpers/http/sign-in.js';
import { walletKey } from '../../helpers/transactions/wallet-key.js';

const tell: RequestHandler = (_req, res) => void res.send('come in');
const stranger = walletKey('a stranger to these pages');
let fixture: TollFixture;
let url: string;

beforeAll(async () => {
  fixture = await openTollFixture();
  const { facilitator, payTo } = fixture;
  const usdc = { facilitator, mint: 'USDC' };
  const gold = requireTier({ facilitator, tier: 'gold' });
  const few = requireTokenBalance({ ...usdc, minBalance: '100.5' });
  url = await fixture.serve((app: Express) => {
    app.get('/gold', gold, tell);
    app.get('/held', requireTokenBalance({ ...usdc, minBalance: 0, heldFor: '24h' }), tell);
    app.get('/denied', requireTokenBalance({ ...usdc, minBalance: 0, deny: [stranger.address] }), tell);
    app.get('/either', anyOf(few, gold), tell);
    app.get('/paid', anyOf(few, gold, requirePayment({ facilitator, payTo, price: '$0.10' })), tell);
    const holders = [{ tier: 'gold', price: '$0.01' }, { tier: 'bronze', free: true } as const];
    app.get('/cheaper', requirePayment({ facilitator, payTo, price: '$0.10', holders }), tell);
  });
});
afterAll(() => fixture.close());

/** What the page of a wallet that is not let in is headed by, and says. */
async function refusal(path: string, language = 'en') {
  const proof = await signIn(stranger, `${url}${path}`);
  const page = await fetch(`${url}${path}`, {
    headers: { accept: 'text/html', 'accept-language': language, ...proof },
  });
  const html = await page.text();
  const [, heading] = /<h1>(.*)<\/h1>/.exec(html) ?? [];
  const [, problem] = /<p class="problem">(.*)<\/p>/.exec(html) ?? [];
  return { status: page.status, heading, problem };
}

const SHORT = `${stranger.address.slice(0, 5)}…${stranger.address.slice(-5)}`;

describe('the page of a wallet that is not let in', () => {
  test('says what it has and what it takes, with the tier and a short address', async () => {
    expect(await refusal('/gold')).toEqual({
      status: 403,
      heading: 'This wallet is not enough',
      problem: `The wallet ${SHORT} has 0 USDC. It takes 10,000 USDC (tier “Gold”).`,
    });
  });

  test('says when to come back where it has not held it for long enough', async () => {
    expect(await refusal('/held')).toEqual({
      status: 403,
      heading: 'Come back in 24 hours',
      problem: `The wallet ${SHORT} has enough, and comes in once it has held it for 24 hours.`,
    });
  });

  test('says that it is the wallet that is not let in, and not what it holds', async () => {
    const problem = `The wallet ${SHORT} is not let in here.`;
    expect(await refusal('/denied')).toEqual({ status: 403, heading: 'This wallet is not let in', problem });
  });

  test('names what is nearest of several ways in, and so where it may pay instead', async () => {
    const problem = `The wallet ${SHORT} has 0 USDC. It takes 100.50 USDC.`;
    expect(await refusal('/either')).toMatchObject({ status: 403, problem });
    expect(await refusal('/paid')).toMatchObject({ status: 402, problem });
    expect(await refusal('/cheaper')).toMatchObject({ problem: expect.stringContaining('100 USDC (tier “Bronze”)') });
  });

  test.each(['de', 'es', 'fr', 'zh', 'ja'])('says all of it in %s', async (language) => {
    for (const path of ['/gold', '/held', '/denied']) {
      const [said, english] = [await refusal(path, language), await refusal(path)];
      expect([said.heading === english.heading, said.problem === english.problem]).toEqual([false, false]);
      expect(`${said.heading}${said.problem}`).not.toMatch(/[{}]|The |It takes|undefined/);
    }
  });

  test('leaves what programs are told as it was', async () => {
    const proof = await signIn(stranger, `${url}/gold`);
    const answer = await fetch(`${url}/gold`, { headers: proof });
    expect(await answer.json()).toMatchObject({
      code: 'insufficient_tier',
      detail: `The wallet ${stranger.address} holds 0; the tier "gold" begins at 10000 USDC.`,
      ...{ balance: 0, min_balance: 10_000, missing: 10_000, required_tier: { id: 'gold' } },
    });
  });
});
