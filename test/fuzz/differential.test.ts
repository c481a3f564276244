import { openDifferential } from './differential.js';

// The long form: npm run fuzz.
const RUNS = 400;

test('whatever our rules accept pays the terms to the token, and costs us the fee that they reckoned', async () => {
  const { run, figures } = await openDifferential();
  run(RUNS);
  expect(figures.executed).toBeGreaterThan(RUNS / 20);
  expect(figures.accepted).toBeLessThan(figures.tried);
});
