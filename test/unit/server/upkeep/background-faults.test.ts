import { tellsOfFaults } from '../../../../src/server/upkeep/background-faults.js';

const REASON = 'The database does not answer.';

test('work in the background that fails every few seconds is told once, and what fails for another reason as well', () => {
  const told: unknown[] = [];
  const tell = tellsOfFaults({ warn: ({ reason }: { reason?: unknown }) => void told.push(reason) });
  for (let times = 0; times < 3; times += 1) tell(new Error(REASON));
  tell(new Error('Another one.'));
  tell(new Error(REASON));
  expect(told).toEqual([expect.stringContaining(REASON), expect.stringContaining('Another one.')]);
});
