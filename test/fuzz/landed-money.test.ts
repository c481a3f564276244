import { openLandedFuzz } from './landed-money.js';

// The long form: npm run fuzz.
const RUNS = 400;

test('what is read of a landed transaction is what the runtime holds, account by account', async () => {
  const { run, figures } = await openLandedFuzz();
  run(RUNS);
  expect(figures.executed).toBeGreaterThan(RUNS / 5);
  expect(Math.min(figures.handedOver, figures.inner, figures.payments)).toBeGreaterThan(0);
});
