import type { FacilitatorHealth } from '../../../../src/facilitator/setup/health.js';
import { watchBalance } from '../../../../src/server/upkeep/watch-balance.js';
import { openStorage } from '../../../../src/storage/open-storage.js';
import type { Storage } from '../../../../src/storage/storage.js';

const LOW: FacilitatorHealth = {
  status: 'degraded',
  wallet: 'feePayer',
  lamports: 500_000n,
  faults: ['fee_payer_low'],
};
const EMPTY: FacilitatorHealth = { status: 'down', wallet: 'feePayer', lamports: 0n, faults: ['fee_payer_empty'] };

let storage: Storage;
let time = Date.UTC(2026, 0, 1);
const now = () => time;

beforeAll(async () => {
  storage = await openStorage('memory:', { now });
});
afterAll(() => storage.close());

const watch = (health: FacilitatorHealth) =>
  watchBalance(health, { network: 'solana', counters: storage.counters, events: storage.gateway.events, now });

async function told(): Promise<readonly unknown[]> {
  const text = `select owner, type, data from tollhouse_event order by seq`;
  return storage.database.query({ name: 'test_events', text });
}

test('a fee payer that runs dry is told of once a day, and again when it is empty', async () => {
  expect(await watch({ ...LOW, status: 'active', faults: [] })).toBe(false);
  expect(await watch(LOW)).toBe(true);
  expect(await watch(LOW)).toBe(false);
  expect(await watch(EMPTY)).toBe(true);
  time += 86_400_001;
  expect(await watch(EMPTY)).toBe(true);

  const data = (state: string, lamports: string) =>
    JSON.stringify({ wallet: 'feePayer', network: 'solana', state, lamports });
  const event = { owner: 'feePayer', type: 'wallet.low_balance' };
  expect(await told()).toEqual([
    { ...event, data: data('low', '500000') },
    { ...event, data: data('empty', '0') },
    { ...event, data: data('empty', '0') },
  ]);
});
