import { createEndpointHealth, TRY_MS } from '../../../../src/solana/rpc/endpoint-health.js';

function health({ random = 0 } = {}) {
  const clock = { now: 1_000 };
  const subject = createEndpointHealth({
    now: () => clock.now,
    random: () => random,
    firstRestMs: 100,
    longestRestMs: 1_500,
  });
  return { subject, clock };
}

/** Lets it fail once more, at the end of its rest, and answers how long it rests then. */
function nextRest({ subject, clock }: ReturnType<typeof health>): number {
  clock.now = Math.max(clock.now, subject.restsUntil());
  subject.failed(clock.now);
  return subject.restsUntil() - clock.now;
}

describe('endpoint health', () => {
  it('doubles the rest with each failure, up to the longest', () => {
    const sick = health({ random: 1 });
    expect(Array.from({ length: 6 }, () => nextRest(sick))).toEqual([100, 200, 400, 800, 1_500, 1_500]);
  });

  it('shortens a rest by at most half, at random', () => {
    expect(nextRest(health({ random: 0 }))).toBe(50);
    expect(nextRest(health({ random: 0.5 }))).toBe(75);
  });

  it('is well before the first failure and after a success, and starts again small', () => {
    const sick = health({ random: 1 });
    expect(sick.subject.well()).toBe(true);
    nextRest(sick);
    nextRest(sick);
    expect(sick.subject.well()).toBe(false);
    sick.subject.succeeded();
    expect(sick.subject.well()).toBe(true);
    expect(nextRest(sick)).toBe(100);
  });

  it('counts calls that were under way together once', () => {
    const { subject, clock } = health({ random: 1 });
    clock.now = 2_000;
    for (let call = 0; call < 20; call += 1) subject.failed(1_500);
    expect(subject.restsUntil()).toBe(2_100);
  });

  it('rests at least as long as the endpoint asked for', () => {
    const { subject, clock } = health();
    subject.failed(clock.now, 5_000);
    expect(subject.restsUntil()).toBe(clock.now + 5_000);
  });

  it('rests so long even when it is asked for by a later call of a burst that failed together', () => {
    const { subject, clock } = health();
    subject.failed(clock.now);
    subject.failed(clock.now - 1, 5_000);
    expect(subject.restsUntil()).toBe(clock.now + 5_000);
  });

  it('shows as resting again while its one try is under way', () => {
    const sick = health({ random: 1 });
    nextRest(sick);
    sick.clock.now = sick.subject.restsUntil();
    sick.subject.takeTry();
    expect(sick.subject.isTried()).toBe(true);
    expect(sick.subject.restsUntil()).toBe(sick.clock.now + TRY_MS);
    sick.subject.failed(sick.clock.now);
    expect(sick.subject.isTried()).toBe(false);
    expect(sick.subject.restsUntil()).toBe(sick.clock.now + 200);
  });

  it('may be tried by another once the one try is silent for too long', () => {
    const sick = health({ random: 1 });
    nextRest(sick);
    sick.subject.takeTry();
    sick.clock.now = sick.subject.restsUntil();
    expect(sick.subject.isTried()).toBe(false);
  });
});
