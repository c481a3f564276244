import type { Keypair } from '@solana/web3.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import type { Storage } from '../../../src/storage/storage.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { signPayment } from '../../helpers/transactions/payments.js';

const PRICE = 10_000n;

describe.each(['v1', 'v2'] as const)('whoever has paid under a key that was taken out, %s', (version) => {
  let fixture: TollFixture;
  let storage: Storage;
  let runs = 0;
  let isBroken = false;

  beforeAll(async () => {
    fixture = await openTollFixture();
    storage = await openStorage('memory:');
  });
  afterAll(async () => {
    await fixture.close();
    await storage.close();
  });

  /** A shop as it is restarted: the same storage, and what is new in its settings. */
  async function open(settings: Parameters<TollFixture['facilitatorWith']>[0], more: object = {}) {
    const facilitator = fixture.facilitatorWith({ storage, ...settings });
    const sold = { facilitator, payTo: fixture.payTo, price: '$0.01', ...more };
    return fixture.serve((app) => {
      for (const settle of ['after', 'before'] as const) {
        app.get(`/${settle}`, requirePayment({ ...sold, settle }), (_req, res) => {
          if (isBroken && settle === 'before') return void res.status(500).send('broken');
          runs += 1;
          res.send(`run ${runs}`);
        });
      }
    });
  }
  const seller = () => fixture.sandbox.tokenBalance(fixture.payTo, fixture.sandbox.tokens[0]?.mint ?? '');

  async function newKey(): Promise<Keypair> {
    return fixture.sandbox.createWallet({ sol: '1' });
  }

  test.each(['after', 'before'])('has the same response again, settled %s', async (settle) => {
    const before = await open({});
    const payment = (await signPayment(fixture, `${before}/${settle}`))[version];
    const first = await fetch(`${before}/${settle}`, { headers: payment });
    const text = await first.text();
    const had = seller();
    const named = { paymentIdentifier: 'required' };
    for (const [settings, more] of [
      [{ keypair: await newKey() }],
      [{ maxFeeLamports: 10_001n }],
      [{}, named],
    ] as const) {
      const rotated = await open(settings, more);
      const again = await fetch(`${rotated}/${settle}`, { headers: payment });
      expect([first.status, again.status, await again.text(), seller()]).toEqual([200, 200, text, had]);
    }
  });

  // One of version 1, known by an address alone, is left with credit.
  const owed = async () => {
    const before = await open({});
    isBroken = true;
    const payment = (await signPayment(fixture, `${before}/before`))[version];
    expect((await fetch(`${before}/before`, { headers: payment })).status).toBe(500);
    isBroken = false;
    const had = seller();
    const rotated = await open({ keypair: await newKey() });
    const again = await fetch(`${rotated}/before`, { headers: payment });
    expect([again.status, await again.text(), seller()]).toEqual([200, `run ${runs}`, had]);
  };
  if (version === 'v2') test('has what he is owed', owed);

  test('and has not sent it is refused, and a stranger with what has landed too', async () => {
    const before = await open({});
    const [unsent, landed] = [
      (await signPayment(fixture, `${before}/after`))[version],
      (await signPayment(fixture, `${before}/after`)).v2,
    ];
    expect((await fetch(`${before}/after`, { headers: landed })).status).toBe(200);
    const had = seller();
    const rotated = await open({ keypair: await newKey() });
    const refused = await fetch(`${rotated}/after`, { headers: unsent });
    const stranger = await fetch(`${rotated}/after?other`, { headers: landed });
    expect([refused.status, stranger.status, seller()]).toEqual([402, 402, had]);
    expect(had % PRICE).toBe(0n);
  });
});
