import type { Request, Response } from 'express';
import type { Facilitator } from '../../../src/facilitator/types.js';
import { chargeCredit } from '../../../src/middleware/gate/request-properties.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import type { Storage } from '../../../src/storage/storage.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { passAnswer } from '../../helpers/http/passes.js';
import { testFolder } from '../../helpers/processes/test-folder.js';
import { ledgerWith } from '../../helpers/storage/ledgers.js';
import { createGate, type PaymentHeaders, signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

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

  function serve(facilitator: Facilitator, handle: (res: Response, req: Request) => unknown): Promise<string> {
    const gated = { facilitator, payTo: fixture.payTo, price: '$0.01', settle: 'before' } as const;
    return fixture.serve((app) => {
      app.get('/single', requirePayment(gated), (req, res) => handle(res, req));
      app.get('/pack', requirePayment({ ...gated, pass: { uses: 1 } }), (req, res) => handle(res, req));
      const metered = { credit: true, cost: '$0.01', stream: true } as const;
      app.get('/ticks', requirePayment({ ...gated, price: '$0.03', pass: metered }), (req, res) => handle(res, req));
    });
  }

  /** Nothing that it does to payments arrives any more from then on. */
  function dying(own: (real: Passes) => Partial<Passes>): Facilitator {
    const ledger = ledgerWith(storage.ledger, {
      ...{ served: never, keep: never, extend: never },
      interrupted: async () => [],
    });
    const real = fixture.facilitatorWith({ storage: { ...storage, ledger }, leaseMs: LEASE_MS });
    const passes = { ...real.passes, ...own(real.passes) };
    return { ...real, passes };
  }

  const received = () => fixture.sandbox.tokenBalance(fixture.payTo, USDC);

  test.each(DEATHS)('%s is served once for its payment by another, at %s', async (_when, path, own) => {
    const before = received();
    const leaving = new AbortController();
    const dead = await serve(dying(own), (res) => void res.status(503).send('it'));
    const living = await serve(fixture.facilitatorWith({ storage, leaseMs: LEASE_MS }), (res) => void res.send('it'));
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

  test.each(['/single', '/pack'])(
    'in a run of a payment that had failed before is served by another, at %s',
    async (path) => {
      const before = received();
      const entered = createGate();
      const own = { storage, leaseMs: LEASE_MS };
      const failing = await serve(fixture.facilitatorWith(own), (res) => void res.status(503).send('not now'));
      const dead = await serve(
        dying(() => ({ giveBack: never })),
        () => entered.open(),
      );
      const living = await serve(fixture.facilitatorWith(own), (res) => void res.send('it'));
      const { v2 } = await signPayment(fixture, failing + path);
      const failed = await fetch(failing + path, { headers: v2 });
      const leaving = new AbortController();
      const left = insist(dead + path, v2, leaving.signal).catch(() => undefined);
      await entered.opened;
      const token = { 'access-pass': failed.headers.get('access-pass') ?? '' };
      expect((await fetch(living + path, { headers: token })).status).toBe(402);
      const again = await insist(living + path, v2);
      leaving.abort();
      await left;

      expect([failed.status, again.status, await again.text()]).toEqual([503, 200, 'it']);
      expect((await fetch(living + path, { headers: token })).status).toBe(402);
      expect(received() - before).toBe(10_000n);
    },
  );

  test('in the middle of a stream each time leaves its payer what was not charged', async () => {
    const leaving = new AbortController();
    const left: Promise<unknown>[] = [];
    const { v2 } = await signPayment(
      fixture,
      `${await serve(fixture.facilitatorWith({ storage }), () => undefined)}/ticks`,
    );
    for (let deaths = 0; deaths < 3; deaths += 1) {
      const charged = createGate();
      const dead = await serve(
        dying(() => ({})),
        async (res, req) => {
          res.write('all that was charged');
          expect(await chargeCredit(req, '$0.024')).toBe(true);
          charged.open();
        },
      );
      left.push(insist(`${dead}/ticks`, v2, leaving.signal).catch(() => undefined));
      await charged.opened;
    }
    const living = await serve(fixture.facilitatorWith({ storage, leaseMs: LEASE_MS }), (res) => void res.send('more'));
    const again = await insist(`${living}/ticks`, v2);
    leaving.abort();
    await Promise.all(left);

    expect([again.status, again.headers.get('access-pass-remaining')]).toEqual([402, '0.006 USDC']);
    expect(await again.json()).toMatchObject({ code: 'payment_already_used' });
  });

  test('after its response was kept is not answered with that where the token has had another one for it', async () => {
    const real = fixture.facilitatorWith({ storage, leaseMs: LEASE_MS });
    const gated = { payTo: fixture.payTo, price: '$0.01', pass: { uses: 1 } } as const;
    const sold = (facilitator: Facilitator) =>
      fixture.serve((app) =>
        app.get('/kept', requirePayment({ ...gated, facilitator }), (_req, res) => res.send('it')),
      );
    const [dead, living] = [await sold(dying(() => ({}))), await sold(real)];
    const { v2 } = await signPayment(fixture, `${dead}/kept`);
    const first = await fetch(`${dead}/kept`, { headers: v2 });
    const token = { 'access-pass': first.headers.get('access-pass') ?? '' };
    expect(await first.text()).toBe('it');
    await until(async () => (await fetch(`${living}/kept`, { headers: token })).status === 200);
    expect((await insist(`${living}/kept`, v2)).status).toBe(402);
  });

  test('is served by the one that has taken it over, and not by the one that wakes up afterwards', async () => {
    const [entered, wakes] = [createGate(), createGate()];
    const ledger = ledgerWith(storage.ledger, { extend: async () => false });
    const frozen = await serve(
      fixture.facilitatorWith({ storage: { ...storage, ledger }, leaseMs: LEASE_MS }),
      async (res) => {
        entered.open();
        await wakes.opened;
        res.send('late');
      },
    );
    const living = await serve(fixture.facilitatorWith({ storage, leaseMs: LEASE_MS }), (res) => void res.send('it'));
    const { v2 } = await signPayment(fixture, `${frozen}/single`);
    const first = fetch(`${frozen}/single`, { headers: v2 }).then((it) => it.text());
    const broken = expect(first).rejects.toThrow();
    await entered.opened;
    const again = await insist(`${living}/single`, v2);
    wakes.open();
    await broken;
    expect([again.status, await again.text()]).toEqual([200, 'it']);
  });

  test.each(['/single', '/pack'])(
    'each time is tried no more, and leaves its payer what it has paid, at %s',
    async (path) => {
      const before = received();
      const { v2 } = await signPayment(
        fixture,
        (await serve(fixture.facilitatorWith({ storage }), () => undefined)) + path,
      );
      const leaving = new AbortController();
      const left: Promise<unknown>[] = [];
      for (let deaths = 0; deaths < 3; deaths += 1) {
        const entered = createGate();
        const dead = await serve(
          dying(() => ({})),
          () => entered.open(),
        );
        left.push(insist(dead + path, v2, leaving.signal).catch(() => undefined));
        await entered.opened;
      }
      const living = await serve(fixture.facilitatorWith({ storage, leaseMs: LEASE_MS }), (res) => void res.send('it'));
      const refused = await insist(living + path, v2);
      leaving.abort();
      await Promise.all(left);

      expect([refused.status, await refused.json()]).toEqual([
        402,
        expect.objectContaining({
          code: 'payment_already_used',
          detail: expect.stringContaining('left of what it has'),
        }),
      ]);
      const token = { 'access-pass': refused.headers.get('access-pass') ?? '' };
      const answers = [await fetch(living + path, { headers: token }), await fetch(living + path, { headers: token })];
      expect(answers.map(({ status }) => status)).toEqual([200, 402]);
      expect(received() - before).toBe(10_000n);
    },
  );

  /** Until another process may have the payment. */
  async function insist(address: string, headers: PaymentHeaders, signal: AbortSignal | null = null) {
    for (;;) {
      const answer = await fetch(address, { headers, signal });
      if (answer.status !== 409 && answer.status !== 503) return answer;
      await answer.text();
    }
  }
});
