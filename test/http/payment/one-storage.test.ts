import type { EmbeddedFacilitator } from '../../../src/facilitator/create-facilitator.js';
import { createGateway } from '../../../src/gateway/create-gateway.js';
import { createRouter } from '../../../src/http/create-router.js';
import { createIdentity, type WalletIdentity } from '../../../src/identity/create-identity.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { requireTokenBalance } from '../../../src/middleware/wallet/require-token-balance.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import type { Storage } from '../../../src/storage/storage.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { accessTokenFor } from '../../helpers/http/sign-in.js';
import { testFolder } from '../../helpers/processes/test-folder.js';
import { ledgerOfTheDead } from '../../helpers/storage/ledgers.js';
import { testClock } from '../../helpers/test-clock.js';
import { signPayment } from '../../helpers/transactions/payments.js';
import { walletKeyOf } from '../../helpers/transactions/wallet-key.js';
import { until } from '../../helpers/until.js';

const JWT_SECRET = 'a secret of thirty-two bytes or more';
const LEASE_MS = 30_000;
const DAY_MS = 86_400_000;

describe('a facilitator that was given a storage', () => {
  const folder = testFolder();
  const { now, advance } = testClock(Date.now());
  let fixture: TollFixture;
  let storage: Storage;

  beforeAll(async () => {
    fixture = await openTollFixture();
    storage = await openStorage(`sqlite:${folder.newPath('db')}`, { now });
  });
  afterAll(async () => {
    await fixture.close();
    await storage.close();
  });

  const sell = (facilitator: EmbeddedFacilitator): Promise<string> =>
    fixture.serve((app) => {
      app.set('env', 'test');
      app.get('/report', requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.01' }), (_req, res) => {
        res.send('paid');
      });
    });

  async function pay(url: string, times = 1): Promise<number[]> {
    const statuses: number[] = [];
    for (let time = 0; time < times; time += 1) {
      const { v2 } = await signPayment(fixture, `${url}/report`);
      const response = await fetch(`${url}/report`, { headers: v2 });
      await response.arrayBuffer();
      statuses.push(response.status);
    }
    return statuses;
  }

  test('brings to an end, unasked, what a dead instance has sent', async () => {
    const silenced = ledgerOfTheDead(storage.ledger);
    expect(await pay(await sell(fixture.facilitatorWith({ ledger: silenced, settleTimeoutMs: 150 })))).toEqual([500]);
    await advance(LEASE_MS);

    const recovered: unknown[] = [];
    fixture.facilitatorWith({ storage, now }).on('payments.recovered', (found) => recovered.push(found));
    await until(() => recovered.length > 0);

    expect(recovered).toEqual([{ settled: 1, failed: 0, expired: 0, open: 0 }]);
  });

  test('shares the bound on fees with the others that were given it', async () => {
    const bounded = { storage, now, maxFeeLamportsPerHour: 30_000n };
    const urls = await Promise.all([bounded, bounded].map((options) => sell(fixture.facilitatorWith(options))));
    const statuses = [];
    for (const url of [...urls, ...urls]) {
      const response = await fetch(`${url}/report`);
      await response.arrayBuffer();
      statuses.push(response.status === 402 ? (await pay(url))[0] : response.status);
    }

    expect(statuses.filter((status) => status === 200).length).toBe(1);
  });

  test('lends it to identity, gateway and router: a token that one instance revoked is good at no other', async () => {
    const urls: string[] = [];
    const identities: WalletIdentity[] = [];
    for (const _instance of [1, 2]) {
      const facilitator = fixture.facilitatorWith({ storage, now });
      const identity = createIdentity({ facilitator, jwtSecret: JWT_SECRET, domain: 'shop.example' });
      const gateway = createGateway({ facilitator });
      identities.push(identity);
      urls.push(
        await fixture.serve((app) => {
          const gate = requireTokenBalance({ facilitator, identity, mint: 'USDC', minBalance: 1 });
          app.get('/club', gate, (_req, res) => void res.send('in'));
          app.use(createRouter({ facilitator, identity, gateway }));
        }),
      );
    }
    const [first, second] = identities;
    if (first === undefined || second === undefined) throw new Error('there are two');
    const headers = await accessTokenFor(
      walletKeyOf(fixture.payer.secretKey.subarray(0, 32)),
      first,
      'https://shop.example/',
    );
    const enter = () => Promise.all(urls.map(async (url) => (await fetch(`${url}/club`, { headers })).status));

    expect(await enter()).toEqual([200, 200]);
    await second.revoke(headers.authorization?.replace('Bearer ', '') ?? '');
    expect(await enter()).toEqual([401, 401]);
    const marketplace = await fetch(`${urls[0]}/api/v1/marketplace`);
    expect(marketplace.status).toBe(200);
  });

  test('forgets what is over long since, and nothing while its clock is not the chain’s', async () => {
    const prunes: number[] = [];
    const watched = { ...storage, prune: async (time: number) => prunes.push(time) };
    let asked = 0;
    const inAYear = () => {
      asked += 1;
      return Date.now() + 500 * DAY_MS;
    };
    const wrong = fixture.facilitatorWith({ storage: watched, now: inAYear }, { pruneMs: 5 });
    await until(() => asked > 50);
    await wrong.close();
    expect(prunes).toEqual([]);

    const right = fixture.facilitatorWith({ storage: watched }, { pruneMs: 5 });
    await until(() => prunes.length > 0);
    await right.close();
    expect(Date.now() - (prunes[0] ?? 0)).toBeLessThan(2 * DAY_MS);
  });

  test('tells what went wrong meanwhile, and does nothing more once it is closed', async () => {
    const closed = await openStorage(`sqlite:${folder.newPath('db')}`);
    await closed.close();
    const faults = new Set<unknown>();
    const onFault = (error: unknown) => faults.add(Reflect.get(Object(error), 'code'));
    const facilitator = fixture.facilitatorWith({ storage: closed, onFault });
    await until(() => faults.size > 0);
    await facilitator.close();

    expect([...faults]).toEqual(['store_unavailable']);
  });
});

test('a gateway without a storage of its own or of its facilitator is told where to get one', async () => {
  const fixture = await openTollFixture();
  const { facilitator } = fixture;
  await fixture.close();

  expect(() => createGateway({ facilitator })).toThrow(/option "storage" is missing.*openStorage/);
});

test('an identity without a network is told to name a facilitator or a network', async () => {
  expect(() => createIdentity({ jwtSecret: JWT_SECRET })).toThrow(/"network" is missing.*"facilitator"/);
});
