import timers from 'node:timers/promises';
import { withRetry } from '../../../../src/facilitator/reconcile/with-retry.js';
import { RpcError, type RpcErrorDetails, type RpcFailure } from '../../../../src/solana/rpc/rpc.js';
import { rejectionOf } from '../../../helpers/nodes/fake-node.js';

const pauses: unknown[] = [];

beforeEach(() => {
  pauses.length = 0;
  jest.spyOn(timers, 'setTimeout').mockImplementation(async (milliseconds) => void pauses.push(milliseconds));
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** Asks what fails so often before it answers. */
async function ask(error: Error, failures: number) {
  let asked = 0;
  const answer = withRetry(async () => {
    asked += 1;
    if (asked <= failures) throw error;
    return 'answer';
  });
  const rejected = await rejectionOf(answer);
  return { asked, rejected, answer: rejected === undefined ? await answer : undefined };
}

function failed(failure: RpcFailure, details: RpcErrorDetails = {}): RpcError {
  return new RpcError(failure, 'it failed', details);
}

test.each(['unreachable', 'timeout', 'rate_limited', 'bad_answer'] as const)(
  'what may pass is asked again, with pauses that double: %s',
  async (failure) => {
    expect(await ask(failed(failure), 5)).toEqual({ asked: 6, rejected: undefined, answer: 'answer' });
    expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000]);
  },
);

test('the sixth failure is the last', async () => {
  const error = failed('timeout');
  const { asked, rejected } = await ask(error, 9);
  expect([asked, rejected === error, pauses]).toEqual([6, true, [500, 1_000, 2_000, 4_000, 8_000]]);
});

test('a pause is as long as the node wishes', async () => {
  await ask(failed('rate_limited', { retryAfterMs: 70 }), 2);
  await ask(failed('rate_limited', { retryAfterMs: 0 }), 1);
  expect(pauses).toEqual([70, 70, 0]);
});

test('what cannot pass is told at once', async () => {
  for (const error of [failed('answer'), failed('closed'), new Error('another')]) {
    const { asked, rejected } = await ask(error, 9);
    expect([asked, rejected === error]).toEqual([1, true]);
  }
  expect(pauses).toEqual([]);
});
