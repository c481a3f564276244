import { isFromBackup, isLostByRestore, landedInLostPeriod } from '../../../../src/facilitator/payments/lost-period.js';

const START = 1_000_000;
const MINUTE = 60_000;
/** Books that end at `START`, and were restored ten minutes later. */
const restored = { remembersUntil: START, remembersSince: START + 10 * MINUTE };
const forgotten = { remembersSince: START };

test('books that are kept have lost nothing', () => {
  expect([landedInLostPeriod({}, 0), isLostByRestore({}, 0), isFromBackup({}, { claimedAt: 0 })]).toEqual([
    false,
    false,
    false,
  ]);
});

test.each([
  ['a minute before they end', START - MINUTE, true],
  ['earlier than that', START - MINUTE - 1, false],
  ['when they were restored, give or take two seconds', restored.remembersSince + 1_999, true],
  ['after that', restored.remembersSince + 2_000, false],
])('of restored books, what landed %s may be lost: %s', (_when, at, isLost) => {
  expect([landedInLostPeriod(restored, at), isLostByRestore(restored, at)]).toEqual([isLost, isLost]);
});

test('where nobody tells when it landed, it may be lost to restored books', () => {
  expect(isLostByRestore(restored, undefined)).toBe(true);
});

test('books in memory have lost what landed before they began, and no restore has lost it', () => {
  expect(landedInLostPeriod(forgotten, START - 2_000)).toBe(false);
  expect(landedInLostPeriod(forgotten, START - 2_001)).toBe(true);
  expect(isLostByRestore(forgotten, 0)).toBe(false);
});

test('a payment is from the backup when it was claimed before the restore', () => {
  const { remembersSince: claimedAt } = restored;
  expect(isFromBackup(restored, { claimedAt })).toBe(true);
  expect(isFromBackup(restored, { claimedAt: claimedAt + 1 })).toBe(false);
  expect(isFromBackup(forgotten, { claimedAt: 0 })).toBe(false);
});
