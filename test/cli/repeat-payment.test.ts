import { type Attempt, repeatPayment } from '../../src/cli/pay/repeat-payment.js';

/** Repeats against scripted attempts, without waiting; answers what came of it, and the pauses in seconds. */
async function repeated(attempts: readonly Attempt<string>[]) {
  const pauses: number[] = [];
  let made = 0;
  const outcome = await repeatPayment({
    attempt: async () => attempts[made++] ?? { decided: false, told: 'cut' },
    onPause: () => undefined,
    pause: async (ms) => void pauses.push(ms / 1_000),
  });
  return { outcome, pauses, made };
}

const decided = { decided: true, response: 'yes' } as const;
const cut = { decided: false, told: 'cut' } as const;

test('a payment is sent five times more, with growing pauses, and then its outcome is not known', async () => {
  expect(await repeated([])).toEqual({
    outcome: { known: false, told: 'cut' },
    pauses: [1, 2, 5, 10, 20],
    made: 6,
  });
});

test('what decides about it ends it, and how often it was open is told', async () => {
  expect(await repeated([decided])).toMatchObject({ outcome: { known: true, doubts: 0 }, pauses: [] });
  expect(await repeated([cut, cut, decided])).toMatchObject({
    outcome: { known: true, response: 'yes', doubts: 2 },
    pauses: [1, 2],
  });
});

test('a server that asks for a longer pause gets it, within a minute', async () => {
  const busy = (waitMs: number) => ({ decided: false, told: '503', waitMs }) as const;
  expect(await repeated([busy(4_000), busy(500), decided])).toMatchObject({ outcome: { known: true }, pauses: [4, 2] });
  expect(await repeated([busy(61_000), decided])).toMatchObject({ outcome: { known: false, told: '503' }, pauses: [] });
});

test('it leaves the signals of the process as they were', async () => {
  const before = process.listenerCount('SIGINT');
  await repeated([cut, decided]);
  expect(process.listenerCount('SIGINT')).toBe(before);
});
