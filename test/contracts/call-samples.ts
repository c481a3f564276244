import { randomUUID } from 'node:crypto';
import { newId } from '../../src/lib/ids.js';
import type { CallRecord, KeyedCaller, RefusedCall, ReservationRequest } from '../../src/storage/calls/call-store.js';

/** Mints of two tokens. */
export const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
export const USDT = 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB';

/** 2026-03-31, half an hour before the month ends in UTC. */
export const LATE_MARCH = Date.UTC(2026, 2, 31, 23, 30);

/** The caller of {@link newCall}. */
export const ALICE: KeyedCaller = { keyId: 'key_one', owner: 'wallet of alice' };

/** A call of a key, paid with 10,000 atomic units of USDC, that went well. */
export function newCall(change: Partial<CallRecord> = {}): CallRecord {
  return {
    id: newId('call'),
    projectId: 'prj_weather',
    caller: ALICE,
    payer: 'wallet of alice',
    at: LATE_MARCH,
    method: 'POST',
    status: 200,
    outcome: 'succeeded',
    charge: { mint: USDC, amount: 10_000n },
    paymentId: newId('pay'),
    signature: '5'.repeat(88),
    durationMs: 120,
    requestId: newId('req'),
    ...change,
  };
}

/** A call of which everything is known; the compiler asks for what a record comes to have. */
export function wholeCall(): Required<CallRecord> {
  return {
    ...newCall(),
    ...{ caller: ALICE, payer: 'wallet of bob', status: 402, outcome: 'failed', reason: 'upstream_timeout' },
    charge: { mint: USDC, amount: 18_446_744_073_709_551_615n },
    credit: { kind: 'used', charge: { mint: USDT, amount: 5n } },
    pass: { id: newId('pas'), uses: 1 },
    ...{ paymentId: newId('pay'), signature: '4'.repeat(88), route: 'GET /weather/*', rule: 'reports' },
    ...{ upstreamMs: 80, gatewayMs: 7 },
  };
}

/** A call that the upstream did not answer and that cost nothing. */
export function failedCall(change: Partial<CallRecord> = {}): CallRecord {
  const { status: _status, charge: _charge, ...call } = newCall();
  return { ...call, outcome: 'failed', reason: 'upstream_timeout', durationMs: 30_000, ...change };
}

/** A call with a payment that has bought something already. */
export function newRefusal(change: Partial<RefusedCall> = {}): RefusedCall {
  return { projectId: 'prj_weather', at: LATE_MARCH, reason: 'payment_already_used', ...change };
}

/** What {@link newCall} is going to cost, under a limit of three such calls a day. */
export function newReservation(change: Partial<ReservationRequest> = {}): ReservationRequest {
  return {
    id: randomUUID(),
    caller: ALICE,
    charge: { mint: USDC, amount: 10_000n },
    budgets: [{ window: 'day', limit: 30_000n }],
    at: LATE_MARCH,
    leaseMs: 60_000,
    ...change,
  };
}
