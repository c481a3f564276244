import {
  type SetupCode,
  type SetupFinding,
  setupError,
  setupWarning,
} from '../../../../src/facilitator/setup/setup-finding.js';
import type { PaymentNeed } from '../../../../src/facilitator/setup/setup-target.js';
import { createSetupWatch, type SetupWatch } from '../../../../src/facilitator/setup/setup-watch.js';

const NEED: PaymentNeed = { payTo: 'seller', asset: 'usdc' };
const HOUR_MS = 3_600_000;

let warned: string[] = [];
let looks: (readonly PaymentNeed[])[] = [];
let found: readonly SetupFinding[] = [];
let name = 0;

beforeEach(() => {
  jest.useFakeTimers();
  [warned, looks, found] = [[], [], []];
  name += 1;
  jest
    .spyOn(process, 'emitWarning')
    .mockImplementation((...[text, options]) => void warned.push(`${codeOf(options)}: ${text}`));
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

const codeOf = (options: unknown): string => String(Reflect.get(Object(options), 'code'));

/** What was warned of is remembered by the process: each test has a wallet of its own. */
const finding = (code: SetupCode, detail = 'it is wrong') => ({
  code,
  about: `wallet ${name}`,
  detail,
  fix: 'mend it',
});

function open(enabled = true): SetupWatch {
  return createSetupWatch({
    network: 'solana-devnet',
    enabled,
    now: Date.now,
    async check(needs) {
      looks.push(needs);
      return found;
    },
  });
}

const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);

test('nothing is looked at before the first use, and then once for all that is used in a moment', async () => {
  const watch = open();
  await pass(HOUR_MS);
  expect([looks, watch.known()]).toEqual([[], undefined]);
  const other = { ...NEED, payTo: 'another' };
  watch.begin([NEED]);
  watch.begin([NEED, other]);
  watch.begin();
  await pass(HOUR_MS);
  expect(looks).toEqual([[NEED, other]]);
  expect(watch.known()).toMatchObject({ ok: true, findings: [] });
});

test('where it is switched off nothing is looked at', async () => {
  const watch = open(false);
  watch.begin([NEED]);
  watch.again();
  await pass(HOUR_MS);
  expect(looks).toEqual([]);
});

test('what was used later is looked at as well, and of more than a hundred none', async () => {
  const watch = open();
  const needs = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => ({ payTo: `seller ${from + index}`, asset: 'usdc' }));
  watch.begin(needs(0, 60));
  await pass(1_000);
  watch.begin(needs(60, 120));
  await pass(1_000);
  expect(looks.map(({ length }) => length)).toEqual([60, 100]);
  watch.begin(needs(120, 130));
  await pass(1_000);
  expect(looks).toHaveLength(2);
});

test('each thing is told once, with code, reason and fix, however often it is found and by however many', async () => {
  found = [setupError(finding('fee_payer_empty', 'the fee payer is empty')), setupWarning(finding('fee_payer_low'))];
  for (const watch of [open(), open()]) {
    watch.begin();
    await pass(HOUR_MS);
    watch.close();
  }
  expect(looks.length).toBeGreaterThan(4);
  expect(warned).toEqual([
    'TOLLHOUSE_FEE_PAYER_EMPTY: the fee payer is empty. To mend it: mend it',
    'TOLLHOUSE_FEE_PAYER_LOW: it is wrong. To mend it: mend it',
  ]);
});

test('it is told again when it was mended and is back', async () => {
  const watch = open();
  found = [setupError(finding('recipient_account_missing'))];
  watch.begin([NEED]);
  await pass(1_000);
  found = [];
  await pass(31_000);
  expect(watch.known()?.ok).toBe(true);
  found = [setupError(finding('recipient_account_missing'))];
  await pass(HOUR_MS);
  expect(warned).toHaveLength(1);
  watch.again();
  await pass(1_000);
  expect(warned).toHaveLength(2);
});

test('while the RPC cannot be asked it is tried again, after longer and longer', async () => {
  const watch = open();
  found = [setupError(finding('rpc_unreachable'))];
  watch.begin();
  await pass(10_000);
  expect(looks.length).toBe(3);
  await pass(HOUR_MS);
  expect(looks.length).toBeLessThan(25);
  found = [];
  await pass(300_000);
  const after = looks.length;
  await pass(HOUR_MS);
  expect(looks.length).toBe(after);
  expect(warned).toHaveLength(1);
});

test('failures have it looked at again at most once a minute', async () => {
  const watch = open();
  watch.begin();
  await pass(1_000);
  for (let n = 0; n < 1_250; n += 1) {
    watch.again();
    await pass(100);
  }
  expect(looks.length).toBe(3);
});

test('a closed one looks no more', async () => {
  const watch = open();
  found = [setupError(finding('rpc_unreachable'))];
  watch.begin();
  await pass(1_000);
  watch.close();
  watch.again();
  watch.begin([NEED]);
  await pass(HOUR_MS);
  expect(looks).toHaveLength(1);
  expect(jest.getTimerCount()).toBe(0);
});

test('a check that breaks is warned of and ends nothing', async () => {
  const check = () => Promise.reject(new Error('a bug'));
  const watch = createSetupWatch({ network: 'solana-devnet', enabled: true, now: Date.now, check });
  watch.begin();
  await pass(1_000);
  expect(warned).toEqual(['TOLLHOUSE_SETUP_CHECK: the set-up could not be checked: Error: a bug']);
});
