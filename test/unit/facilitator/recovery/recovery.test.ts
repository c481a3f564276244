import { bindingOf } from '../../../../src/facilitator/payments/payment-binding.js';
import { createRecovery } from '../../../../src/facilitator/recovery/recovery.js';
import { resolveAttempt } from '../../../../src/facilitator/requests/resolve-attempt.js';
import type { Terms } from '../../../../src/protocol/types.js';
import type { Landing } from '../../../../src/solana/confirmation/confirmation.js';
import type { Broadcast, ClaimRequest, Ledger } from '../../../../src/storage/ledger/ledger.js';
import type { PaymentRequestRecord } from '../../../../src/storage/ledger/payment-request.js';
import { newClaim } from '../../../contracts/ledger-samples.js';
import {
  LANDED,
  landedAs,
  NETWORK,
  newRequest,
  OUTAGE,
  openPaymentService,
  paying,
} from '../../../helpers/fixtures/payment-service-fixture.js';
import { ledgerWith } from '../../../helpers/storage/ledgers.js';

const NOTHING = { settled: 0, failed: 0, expired: 0, open: 0 };
const FAILED: Landing = { status: 'landed', slot: 7, err: 'AccountInUse' };
const LEASE_MS = 1_000;
const RESOURCE = 'GET /report';
const SIGNATURE = '5'.repeat(88);

type Opened = ReturnType<typeof openPaymentService>;

/** A payment service, and what recovers what was left behind at it. */
function open(own: Partial<Ledger> = {}) {
  const fixture = openPaymentService(own);
  return { ...fixture, recover: createRecovery(fixture.parts) };
}

/** A payment that was sent by a process which then died. */
async function leave(
  { ledger }: Opened,
  change: Partial<ClaimRequest> = {},
  sent: Broadcast = { signature: SIGNATURE },
): Promise<ClaimRequest> {
  const { terms } = newClaim();
  const claim = newClaim({ leaseMs: LEASE_MS, binding: bindingOf(RESOURCE, change.terms ?? terms), ...change });
  await ledger.claim(claim);
  await ledger.recordBroadcast(claim.id, claim.lease, sent);
  return claim;
}

/** One that was sent for a request, attached to it. */
async function leaveFor(fixture: Opened, request: PaymentRequestRecord, sent?: Broadcast) {
  const paid = paying(request);
  const { network, token, amount, payTo } = request;
  const terms: Terms = { scheme: 'transfer', network, asset: token.mint, amount, payTo, maxTimeoutSeconds: 60 };
  const { messageHash: id, blockhash } = paid.decoded;
  const binding = bindingOf(request.id, terms);
  const claim = await leave(fixture, { id, blockhash, terms, binding, payer: paid.payer }, sent);
  await fixture.ledger.attachAttempt(request.id, id);
  return { ...paid, claim };
}

const stateOf = async ({ ledger }: Opened, { id }: ClaimRequest) => (await ledger.find(id))?.state;

describe('what is left behind', () => {
  test('by nobody is nothing', async () => {
    const fixture = open();
    expect(await fixture.recover()).toEqual(NOTHING);
    expect(fixture.watched).toEqual([]);
  });

  test.each<[string, Landing | Error, object, string]>([
    ['has landed', LANDED, { settled: 1 }, 'confirmed'],
    ['failed', FAILED, { failed: 1 }, 'failed'],
    ['can land no more', { status: 'expired' }, { expired: 1 }, 'expired'],
    ['is not known', { status: 'unknown' }, { open: 1 }, 'broadcast'],
    ['cannot be asked for', OUTAGE, { open: 1 }, 'broadcast'],
  ])('is counted and written down as what the chain says: it %s', async (_, found, counted, state) => {
    const fixture = open();
    const left = await leave(fixture);
    await fixture.advance(LEASE_MS);
    fixture.chain.found = found;
    expect(await fixture.recover()).toEqual({ ...NOTHING, ...counted });
    expect(await stateOf(fixture, left)).toBe(state);
    // Nobody is at work on it now.
    expect((await fixture.ledger.claim({ ...left, lease: 'new' })).status).toBe(
      state === 'confirmed' || state === 'broadcast' ? 'won' : 'closed',
    );
  });

  test('is used up where it was so in a backup that was restored: it may have been served since', async () => {
    const fixture = open({ remembersUntil: 1, remembersSince: Number.MAX_SAFE_INTEGER });
    const left = await leave(fixture);
    await fixture.advance(LEASE_MS);
    fixture.chain.found = LANDED;
    expect(await fixture.recover()).toEqual({ ...NOTHING, settled: 1 });
    expect(await stateOf(fixture, left)).toBe('served');
  });

  test('is told with what it was for, and asked for as far as any route can ask', async () => {
    const fixture = open();
    const sent = { signature: SIGNATURE, lastValidBlockHeight: 99 };
    const [one, other] = [await leave(fixture), await leave(fixture, {}, sent)];
    await fixture.advance(LEASE_MS);
    const { payer, terms, blockhash } = one;
    fixture.chain.found = FAILED;
    await fixture.recover();
    const reason = 'invalid_exact_svm_transaction_failed';
    expect(fixture.told).toEqual(
      [one, other].map(({ id }) => ['payment.failed', { id, resource: RESOURCE, payer, terms, reason }]),
    );
    const asked = { signature: SIGNATURE, blockhash, commitment: 'finalized', timeoutMs: 1_500 };
    expect(fixture.watched).toStrictEqual([asked, { ...asked, lastValidBlockHeight: 99 }]);
  });

  test('is not asked about again for ten seconds, and not while it is held', async () => {
    const fixture = open();
    await leave(fixture);
    fixture.chain.found = { status: 'unknown' };
    await fixture.advance(LEASE_MS - 1);
    expect(await fixture.recover()).toEqual(NOTHING);
    await fixture.advance(1);
    expect(await fixture.recover()).toEqual({ ...NOTHING, open: 1 });
    await fixture.advance(9_999);
    expect(await fixture.recover()).toEqual(NOTHING);
    await fixture.advance(1);
    expect(await fixture.recover()).toEqual({ ...NOTHING, open: 1 });
  });

  test('on another network is not ours to look at', async () => {
    const fixture = open();
    const { terms } = newClaim();
    await leave(fixture, { terms: { ...terms, network: 'solana' } });
    await fixture.advance(LEASE_MS);
    expect(await fixture.recover()).toEqual(NOTHING);
    expect(terms.network).toBe(NETWORK);
  });

  test('is all looked at, a hundred at a time', async () => {
    const asked: unknown[] = [];
    const fixture = open();
    for (let count = 0; count < 201; count += 1) await leave(fixture);
    await fixture.advance(LEASE_MS);
    const ledger = ledgerWith(fixture.ledger, {
      async takeUnresolved(query) {
        asked.push(query);
        return fixture.ledger.takeUnresolved(query);
      },
    });
    expect(await createRecovery({ ...fixture.parts, ledger })()).toEqual({ ...NOTHING, settled: 201 });
    expect(asked).toEqual(Array(3).fill({ network: NETWORK, restMs: 10_000, limit: 100 }));
  });

  test('is not all looked at while the chain tells nothing; one that it tells of suffices', async () => {
    const fixture = open();
    for (let count = 0; count < 200; count += 1) await leave(fixture);
    await fixture.advance(LEASE_MS);
    fixture.chain.found = OUTAGE;
    expect(await fixture.recover()).toEqual({ ...NOTHING, open: 100 });
    await fixture.advance(10_000);
    const { delivery } = fixture.parts;
    let looks = 0;
    const oneOf = {
      ...delivery,
      watch: async (...call: Parameters<typeof delivery.watch>) => {
        looks += 1;
        fixture.chain.found = looks === 1 ? LANDED : { status: 'unknown' };
        return delivery.watch(...call);
      },
    };
    const recover = createRecovery({ ...fixture.parts, delivery: oneOf });
    expect(await recover()).toEqual({ ...NOTHING, settled: 1, open: 199 });
  });

  test('and taken up again by its payer meanwhile is left to the payer', async () => {
    for (const state of ['broadcast', 'confirmed', 'forgotten'] as const) {
      const fixture = open();
      const left = await leave(fixture);
      await fixture.advance(LEASE_MS);
      const { delivery, ledger } = fixture.parts;
      const meanwhile = {
        ...delivery,
        watch: async (...call: Parameters<typeof delivery.watch>) => {
          await ledger.claim({ ...left, lease: 'payer' });
          if (state === 'confirmed') {
            await ledger.recordOutcome(left.id, 'payer', { state, slot: 3, signature: SIGNATURE });
            await ledger.keep(left.id, 'payer');
          }
          if (state === 'forgotten') await ledger.forget(left.id, 'payer');
          return delivery.watch(...call);
        },
      };
      const recover = createRecovery({ ...fixture.parts, delivery: meanwhile });
      expect(await recover()).toEqual({ ...NOTHING, open: 1 });
      expect(fixture.told).toEqual([]);
      expect(await stateOf(fixture, left)).toBe(state === 'forgotten' ? undefined : state);
    }
  });

  test('without a signature cannot be asked for', async () => {
    const claim = newClaim();
    const { lease: _lease, leaseMs: _leaseMs, ...payment } = claim;
    const fixture = open({ takeUnresolved: async () => [{ ...payment, state: 'broadcast', claimedAt: 0 }] });
    expect(await fixture.recover()).toEqual({ ...NOTHING, open: 1 });
    expect(fixture.watched).toEqual([]);
  });
});

describe('a payment request that is left behind', () => {
  test('is settled when its transaction paid it, and only then', async () => {
    for (const arrived of [true, false]) {
      const fixture = open();
      const request = newRequest(fixture.now());
      await fixture.ledger.savePaymentRequest(request);
      const { claim, decoded } = await leaveFor(fixture, request);
      await fixture.advance(LEASE_MS);
      const lamports = new Map([[request.payTo, { before: 0n, after: arrived ? request.amount : 0n }]]);
      fixture.chain.landed = landedAs(decoded, { lamports });
      expect(await fixture.recover()).toEqual({ ...NOTHING, [arrived ? 'settled' : 'failed']: 1 });
      expect(await stateOf(fixture, claim)).toBe(arrived ? 'served' : 'failed');
      expect(fixture.watched).toMatchObject([{ commitment: 'confirmed' }]);
    }
  });

  test('is not judged when the request is forgotten', async () => {
    const fixture = open();
    await leaveFor(fixture, newRequest(fixture.now()));
    await fixture.advance(LEASE_MS);
    expect(await fixture.recover()).toEqual({ ...NOTHING, open: 1 });
    expect(fixture.watched).toEqual([]);
  });
});

describe('the attempt at a request', () => {
  async function attempt(sent?: Broadcast) {
    const fixture = open();
    const request = newRequest(fixture.now());
    await fixture.ledger.savePaymentRequest(request);
    const left = await leaveFor(fixture, request, sent);
    const record = (await fixture.ledger.find(left.claim.id))!;
    return { ...fixture, fixture, request, ...left, resolve: () => resolveAttempt(fixture.parts, request, record) };
  }

  test('is looked at when nobody waits for it, and let go of again', async () => {
    const at = await attempt();
    at.chain.found = { status: 'unknown' };
    await at.resolve();
    expect(at.watched).toEqual([]);
    await at.advance(LEASE_MS);
    await at.resolve();
    expect(at.watched).toMatchObject([{ signature: SIGNATURE, commitment: 'confirmed', timeoutMs: 1_500 }]);
    expect((await at.ledger.claim({ ...at.claim, lease: 'payer' })).status).toBe('won');
  });

  test('is written down as it ended, and told as the request', async () => {
    const at = await attempt();
    await at.advance(LEASE_MS);
    at.chain.landed = landedAs(at.decoded);
    await at.resolve();
    expect(await stateOf(at.fixture, at.claim)).toBe('served');
    expect(at.told).toMatchObject([['payment.settled', { id: at.claim.id, resource: at.request.id }]]);
  });

  test('is not asked about when its outcome is written down meanwhile, or it was not sent', async () => {
    for (const state of ['confirmed', 'forgotten', 'unsigned'] as const) {
      const at = await attempt(state === 'unsigned' ? {} : undefined);
      const { id, lease } = at.claim;
      if (state === 'confirmed') await at.ledger.recordOutcome(id, lease, { state, slot: 3, signature: SIGNATURE });
      if (state === 'forgotten') await at.ledger.forget(id, lease);
      await at.advance(LEASE_MS);
      at.chain.landed = landedAs(at.decoded);
      await at.resolve();
      expect([state, at.told, at.watched]).toEqual([state, [], []]);
    }
  });
});
