import { TollhouseError } from '../../../../src/errors/errors.js';
import {
  createPayerStanding,
  type PayerStandingParts,
} from '../../../../src/facilitator/sponsorship/payer-standing.js';
import { createMemoryCounters } from '../../../../src/storage/counters/memory-counters.js';
import { testClock } from '../../../helpers/test-clock.js';

const MINUTE_MS = 60_000;
const WALLET = ['wallet', 'account'];

const { now, advance } = testClock();

const newStanding = (counters?: PayerStandingParts['counters']) =>
  createPayerStanding({ network: 'solana-devnet', counters, now });

test('nobody waits who has failed nothing', async () => {
  const standing = newStanding();
  await standing.failed(['somebody else']);
  expect(await standing.refusal(WALLET)).toBeUndefined();
});

test('the wait is a minute, doubles with each failure up to an hour, and is forgotten after six', async () => {
  const standing = newStanding();
  const waits: number[] = [];
  for (let failures = 1; failures <= 8; failures += 1) {
    await standing.failed(WALLET);
    let minutes = 0;
    while ((await standing.refusal(WALLET)) !== undefined) {
      minutes += 1;
      await advance(MINUTE_MS);
    }
    waits.push(minutes);
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  await advance(4 * 60 * MINUTE_MS);
  await standing.failed(WALLET);
  expect((await standing.refusal(WALLET))?.message).toContain('in 60 seconds');
});

test('the refusal says what happened and how long it lasts', async () => {
  const standing = newStanding();
  await standing.failed(WALLET);
  await advance(500);
  expect(await standing.refusal(WALLET)).toEqual({
    reason: 'payer_must_wait',
    message:
      'A transaction of this wallet landed with an error a short while ago; nothing was charged. Pay again in 60 seconds.',
  });
  await advance(MINUTE_MS - 500);
  expect(await standing.refusal(WALLET)).toBeUndefined();
});

test('a wallet waits with another account, and an account with another wallet', async () => {
  const standing = newStanding();
  await standing.failed(WALLET);
  for (const addresses of [
    ['wallet', 'fresh account'],
    ['fresh wallet', 'account'],
  ]) {
    expect(await standing.refusal(addresses)).toMatchObject({ reason: 'payer_must_wait' });
  }
  expect(await standing.refusal(['fresh wallet', 'fresh account'])).toBeUndefined();
});

test('instances that share counters know of each other, those of another network do not', async () => {
  const counters = createMemoryCounters({ now });
  await newStanding(counters).failed(WALLET);
  expect(await newStanding(counters).refusal(WALLET)).toMatchObject({ reason: 'payer_must_wait' });
  const elsewhere = createPayerStanding({ network: 'solana', counters, now });
  expect(await elsewhere.refusal(WALLET)).toBeUndefined();
  expect(await newStanding().refusal(WALLET)).toBeUndefined();
});

test('while the counters cannot be reached, each process remembers for itself and stops nobody else', async () => {
  const away = () => Promise.reject(new TollhouseError('store_unavailable', 'away'));
  const standing = newStanding({ increment: away, put: away, get: away });
  await standing.failed(WALLET);
  expect(await standing.refusal(WALLET)).toMatchObject({ reason: 'payer_must_wait' });
  expect(await standing.refusal(['honest'])).toBeUndefined();
});
