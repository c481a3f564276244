import { settleRequest } from '../../../src/facilitator/requests/settle-request.js';
import { newClaim } from '../../contracts/ledger-samples.js';
import { LANDED, landedAs, paying, signatureOf } from '../../helpers/fixtures/payment-service-fixture.js';
import { type OpenedRequest, openRequest, racing, settled } from '../../helpers/fixtures/request-fixture.js';

const FAILED = { status: 'landed', slot: 7, err: { InstructionError: [2, { Custom: 1 }] } } as const;
const UNKNOWN = { status: 'unknown' } as const;

/** Sends a first transaction whose outcome stays unknown. */
async function leavePending(at: OpenedRequest) {
  const first = paying(at.request);
  at.chain.sent = UNKNOWN;
  at.chain.found = UNKNOWN;
  expect(await at.settle(first)).toEqual({ status: 'pending', signature: signatureOf(first.bytes) });
  return first;
}

describe('another transaction', () => {
  test('waits for the first while nothing is known of it, and is good when it can land no more', async () => {
    const at = await openRequest();
    const first = await leavePending(at);
    const second = paying(at.request);
    expect(await at.settle(second)).toEqual({ status: 'other_pending', signature: signatureOf(first.bytes) });
    at.chain.found = { status: 'expired' };
    at.chain.sent = LANDED;
    at.chain.landed = landedAs(second.decoded);
    expect(await at.settle(second)).toEqual(settled(at, second));
    expect([await at.stateOf(first), await at.stateOf(second)]).toEqual(['expired', 'served']);
  });

  test('is not sent when the first is found to have paid', async () => {
    const at = await openRequest();
    const first = await leavePending(at);
    at.chain.found = LANDED;
    at.chain.landed = landedAs(first.decoded);
    expect(await at.settle(paying(at.request))).toEqual({ status: 'already_settled' });
    expect([await at.stateOf(first), at.delivered.length]).toEqual(['served', 1]);
    const { blockhash } = first.decoded;
    expect(at.watched).toEqual([
      {
        signature: signatureOf(first.bytes),
        blockhash,
        commitment: 'confirmed',
        timeoutMs: 1_500,
      },
    ]);
  });

  test('is good when the first is found to have paid nobody', async () => {
    const at = await openRequest();
    const first = await leavePending(at);
    at.chain.found = FAILED;
    at.chain.sent = LANDED;
    const second = paying(at.request);
    at.chain.landed = landedAs(second.decoded);
    expect(await at.settle(second)).toEqual(settled(at, second));
    expect(await at.stateOf(first)).toBe('failed');
  });

  test('leaves alone what another process waits for', async () => {
    const at = await openRequest();
    const first = await leavePending(at);
    const { messageHash: id } = first.decoded;
    const record = (await at.ledger.find(id))!;
    await at.ledger.claim({ ...record, lease: 'its', leaseMs: 30_000 });
    at.chain.found = LANDED;
    at.chain.landed = landedAs(first.decoded);
    const asked = at.watched.length;
    expect((await at.settle(paying(at.request))).status).toBe('other_pending');
    expect([at.watched.length, await at.stateOf(first)]).toEqual([asked, 'broadcast']);
    expect(await at.ledger.keep(id, 'its')).toBe(true);
    expect(await at.settle(paying(at.request))).toEqual({ status: 'already_settled' });
  });

  test('that loses the race for the request tells how far the winner is', async () => {
    const at = await openRequest();
    const { id, lease, ...claim } = newClaim();
    const lose = async (race: () => Promise<unknown>) => {
      const [loser, ledger] = [paying(at.request), racing(at, race)];
      const parts = { ...at.parts, ledger, walletPayments: async () => ({ status: 'none' as const }) };
      // It has read the request before the other one was attached to it.
      const answer = await settleRequest(parts, at.request, loser.bytes);
      expect(await at.stateOf(loser)).toBeUndefined();
      return answer;
    };
    const claimed = await lose(async () => {
      await at.ledger.claim({ ...claim, id, lease });
      await at.ledger.attachAttempt(at.request.id, id);
    });
    const [signature, slot] = ['sent', 1];
    const noted = await lose(() => at.ledger.recordBroadcast(id, lease, {}));
    const sent = await lose(() => at.ledger.recordBroadcast(id, lease, { signature }));
    const landed = await lose(() => at.ledger.recordOutcome(id, lease, { state: 'confirmed', slot, signature }));
    expect([claimed, noted, sent, landed]).toStrictEqual([
      { status: 'in_progress' },
      { status: 'other_pending' },
      { status: 'other_pending', signature },
      { status: 'already_settled' },
    ]);
    expect(at.delivered).toEqual([]);
  });

  test('whose winner is forgotten already is to be brought again', async () => {
    const at = await openRequest({ attachAttempt: async () => 'gone' });
    expect(await at.settle(paying(at.request))).toEqual({ status: 'in_progress' });
  });

  test('of a request that is forgotten meanwhile pays nothing', async () => {
    const at = await openRequest({ attachAttempt: async () => undefined });
    const paid = paying(at.request);
    expect(await at.settle(paid)).toEqual({ status: 'not_found' });
    expect([at.delivered, await at.stateOf(paid)]).toEqual([[], undefined]);
  });
});
