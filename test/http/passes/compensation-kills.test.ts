import type { Facilitator } from '../../../src/facilitator/types.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import type { Storage } from '../../../src/storage/storage.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { passAnswer } from '../../helpers/http/passes.js';
import { testFolder } from '../../helpers/processes/test-folder.js';
import { ledgerWith } from '../../helpers/storage/ledgers.js';
import { type PaymentHeaders, signPayment } from '../../helpers/transactions/payments.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const LEASE_MS = 500;
const never = () => new Promise<never>(() => undefined);
const folder = testFolder();

type Passes = Facilitator['passes'];

/** What a process that dies at some step does not come to any more. */
const DEATHS: readonly (readonly [when: string, path: string, of: (real: Passes) => Partial<Passes>])[] = [
  ['before its payer has credit', '/single', () => ({ open: never })],
  ['before its use is given back', '/pack', () => ({ giveBack: never })],
  ['when its payer has credit and its payment is not used up', '/single', () => ({ giveBack: never })],
  [
    'when its use was given back and its payment is not used up',
    '/pack',
    (real) => ({ giveBack: (...it) => real.giveBack(...it).then(never) }),
  ],
];

describe('a request that fails in a process that dies', () => {
  let fixture: TollFixture;
  let storage: Storage;
  beforeAll(async () => {
    fixture = await openTollFixture();
    storage = await openStorage(`sqlite:${folder.newPath('db')}`);
  });
  afterAll(async () => {
    await fixture.close();
    await storage.close();
  });

  function serve(facilitator: Facilitator, fails: boolean): Promise<string> {
    const gated = { facilitator, payTo: fixture.payTo, price: '$0.01', settle: 'before' } as const;
    return fixture.serve((app) => {
      app.get('/single', requirePayment(gated), (_req, res) => void res.status(fails ? 503 : 200).send('it'));
      app.get('/pack', requirePayment({ ...gated, pass: { uses: 1 } }), (_req, res) => {
        res.status(fails ? 503 : 200).send('it');
      });
    });
  }

  /** Nothing that it does to payments arrives any more from then on. */
  function dying(own: (real: Passes) => Partial<Passes>): Facilitator {
    const ledger = ledgerWith(storage.ledger, { served: never, keep: never, extend: never });
    const real = fixture.facilitatorWith({ storage: { ...storage, ledger }, leaseMs: LEASE_MS });
    const passes = { ...real.passes, ...own(real.passes) };
    return { ...real, passes };
  }

  const received = () => fixture.sandbox.tokenBalance(fixture.payTo, USDC);

  test.each(DEATHS)('%s is served once for its payment by another, at %s', async (_when, path, own) => {
    const before = received();
    const leaving = new AbortController();
    const dead = await serve(dying(own), true);
    const living = await serve(fixture.facilitatorWith({ storage, leaseMs: LEASE_MS }), false);
    const { v2 } = await signPayment(fixture, dead + path);
    const left = fetch(dead + path, { headers: v2, signal: leaving.signal }).catch(() => undefined);
    const again = await insist(living + path, v2);
    leaving.abort();
    await left;

    expect([again.status, await again.text()]).toEqual([200, 'it']);
    const token = { 'access-pass': again.headers.get('access-pass') ?? '' };
    expect(await passAnswer(await fetch(living + path, { headers: token }))).toMatchObject({ status: 402 });
    expect(received() - before).toBe(10_000n);
    const passes = await storage.passes.list(fixture.payer.publicKey.toBase58());
    expect(passes.every(({ left: it }) => it === 0n)).toBe(true);
  });

  /** Until another process may have the payment. */
  async function insist(address: string, headers: PaymentHeaders): Promise<Response> {
    for (;;) {
      const answer = await fetch(address, { headers });
      if (answer.status !== 409 && answer.status !== 503) return answer;
      await answer.text();
    }
  }
});
