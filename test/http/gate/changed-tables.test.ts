import type { Express, RequestHandler } from 'express';
import { createIdentity } from '../../../src/identity/create-identity.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { readTier } from '../../../src/middleware/wallet/read-tier.js';
import { requireTier } from '../../../src/middleware/wallet/require-tier.js';
import { SECRET } from '../../helpers/fixtures/identity-fixture.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { accessTokenFor } from '../../helpers/http/sign-in.js';
import { askTerms } from '../../helpers/transactions/payments.js';
import { walletKey } from '../../helpers/transactions/wallet-key.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const tell: RequestHandler = ({ tier }, res) => void res.json({ tier });
let fixture: TollFixture;
beforeAll(async () => {
  fixture = await openTollFixture();
});
afterAll(() => fixture.close());

test('a table of tiers that is changed later sets neither a tier nor the price of a request under way', async () => {
  const { facilitator, payTo, sandbox } = fixture;
  const identity = createIdentity({ network: facilitator.network, jwtSecret: SECRET });
  const gold = { id: 'gold', minBalance: 100, features: ['studio'] };
  const tiers = { mint: USDC, levels: [gold] };
  const change: RequestHandler = (_req, _res, next) => {
    Object.assign(gold, { id: 'free', minBalance: 0, features: ['everything'] });
    tiers.levels.length = 0;
    next();
  };
  const price = requirePayment({ facilitator, payTo, price: ({ tier }) => (tier === undefined ? '$0.10' : '$0.01') });
  const url = await fixture.serve((app: Express) => {
    app.get('/priced', change, readTier({ facilitator, identity, tiers }), change, price, tell);
    app.get('/gold', change, requireTier({ facilitator, identity, tiers, tier: 'gold' }), tell);
  });
  const [member, other] = [walletKey('member'), walletKey('other')];
  sandbox.fundToken(member.address, USDC, 100_000_000n);
  sandbox.fundToken(other.address, USDC, 99_999_999n);
  const asked = async (wallet: typeof member) => {
    const headers = await accessTokenFor(wallet, identity, url);
    const { accepts } = await askTerms(`${url}/priced`, { headers });
    return [accepts[0]?.amount, (await fetch(`${url}/gold`, { headers })).status];
  };

  expect(await asked(member)).toEqual(['10000', 200]);
  expect(await asked(other)).toEqual(['100000', 403]);
});

test('a tier that a handler gets cannot be changed for the next request', async () => {
  const { facilitator, sandbox } = fixture;
  const identity = createIdentity({ network: facilitator.network, jwtSecret: SECRET });
  const spoil: RequestHandler = ({ tier }, res) => {
    const changed = Reflect.set(Object(tier), 'id', 'gold') || Reflect.set(Object(tier?.features), 0, 'everything');
    res.json({ changed, tier });
  };
  const url = await fixture.serve((app: Express) => app.get('/told', readTier({ facilitator, identity }), spoil));
  const wallet = walletKey('bronze');
  sandbox.fundToken(wallet.address, USDC, 100_000_000n);
  const answer = await fetch(`${url}/told`, { headers: await accessTokenFor(wallet, identity, url) });
  expect(await answer.json()).toMatchObject({ changed: false, tier: { id: 'bronze', features: ['basic_access'] } });
});

test.each(['fixed', 'of the request'])(
  'a list of prices that is changed later sets no price, payTo %s',
  async (how) => {
    const { facilitator, payTo } = fixture;
    const list = [{ amount: 20_000n, asset: USDC }];
    const gate = requirePayment({ facilitator, price: list, payTo: how === 'fixed' ? payTo : () => payTo });
    const url = await fixture.serve((app: Express) => app.get('/report', gate, tell));
    Object.assign(list[0] ?? {}, { amount: 1n });
    list.unshift({ amount: 1n, asset: USDC });
    const { accepts } = await askTerms(`${url}/report`);
    expect(accepts.map(({ amount }) => amount)).toEqual(['20000']);
  },
);
