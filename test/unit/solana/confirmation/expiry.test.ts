import { createExpiry } from '../../../../src/solana/confirmation/expiry.js';
import { PendingConfirmation } from '../../../../src/solana/confirmation/pending-confirmation.js';

function waitingFor(blockhash: string, lastValidBlockHeight?: number): PendingConfirmation {
  const height = lastValidBlockHeight === undefined ? {} : { lastValidBlockHeight };
  const wanted = {
    signature: 's',
    blockhash,
    commitment: 'confirmed',
    timeoutMs: 1_000,
    sentBefore: false,
    ...height,
  } as const;
  return new PendingConfirmation(wanted, { now: 0, firstLookAt: 0 }, () => undefined);
}

const tip = (blockHeight: number) => ({ slot: blockHeight, blockHeight });

describe('the death of a blockhash', () => {
  it('comes after its last valid height, not at it', () => {
    const isDead = createExpiry();
    expect(isDead(waitingFor('hash', 150), tip(150))).toBe(false);
    expect(isDead(waitingFor('hash', 150), tip(151))).toBe(true);
  });

  it('is bounded from the first height seen where nobody told, with room for a node that lags', () => {
    const isDead = createExpiry();
    const waiting = waitingFor('hash');
    expect(isDead(waiting, tip(1_000))).toBe(false);
    expect(isDead(waiting, tip(1_278))).toBe(false);
    expect(isDead(waiting, tip(1_279))).toBe(true);
  });

  it('has the same bound for everybody who waits on the same hash, also later', () => {
    const isDead = createExpiry();
    isDead(waitingFor('hash'), tip(1_000));
    expect(isDead(waitingFor('hash'), tip(1_279))).toBe(true);
    expect(isDead(waitingFor('other'), tip(1_279))).toBe(false);
  });

  it('comes no later than a blockhash can live, whatever height a sick node has told', () => {
    const isDead = createExpiry(true);
    const waiting = waitingFor('hash', 1_000_000);
    expect(isDead(waiting, tip(1_000))).toBe(false);
    expect(isDead(waiting, tip(1_278))).toBe(false);
    expect(isDead(waiting, tip(1_279))).toBe(true);
    expect(isDead(waitingFor('hash', 1_000_000), tip(1_279))).toBe(true);
    expect(isDead(waitingFor('other', 1_300), tip(1_301))).toBe(true);
  });

  it('is as late as a node says on a local chain, where blockhashes may live longer', () => {
    const isDead = createExpiry();
    const waiting = waitingFor('hash', 4_000);
    expect(isDead(waiting, tip(1_000))).toBe(false);
    expect(isDead(waiting, tip(4_000))).toBe(false);
    expect(isDead(waiting, tip(4_001))).toBe(true);
  });
});
