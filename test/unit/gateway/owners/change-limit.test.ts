import { type ChangeLimitParts, createChangeLimit } from '../../../../src/gateway/owners/change-limit.js';
import { createMemoryCounters } from '../../../../src/storage/counters/memory-counters.js';
import { DEFAULT_QUOTAS } from '../../../../src/storage/owners/quotas.js';
import { codeOf } from '../../../helpers/code-of.js';
import { testClock } from '../../../helpers/test-clock.js';

const DAY_MS = 86_400_000;
const USUAL = 2;
const WALLETS = 5;

function limitWith(parts: Partial<ChangeLimitParts> = {}) {
  const clock = testClock();
  const { now } = clock;
  const changes = createChangeLimit({
    counters: createMemoryCounters({ now }),
    usual: USUAL,
    quotas: async (wallet) => ({ ...DEFAULT_QUOTAS, dailyChanges: wallet === 'known' ? 3 * USUAL : USUAL }),
    isOperator: (wallet) => wallet === 'operator',
    now,
    ...parts,
  });
  let wallets = 0;
  /** How many of some changes are let in, each made by another wallet. */
  async function madeFrom(client: string | undefined, count: number): Promise<number> {
    let made = 0;
    for (let n = 0; n < count; n += 1) {
      wallets += 1;
      const counted = changes.count({ wallet: `wallet ${wallets}`, client });
      made += await counted.then(
        () => 1,
        () => 0,
      );
    }
    return made;
  }
  return { changes, clock, madeFrom };
}

test.each([
  ['IPv4', '192.0.2.1', '192.0.2.2', '192.0.2.3'],
  ['IPv6', '2001:db8:1:100::/56', '2001:db8:1:200::/56', '2001:db8:1:300::/56'],
])(
  'an address of %s makes the changes of five wallets, and the network around it those of ten, however many wallets there are',
  async (_kind, one, other, third) => {
    const { madeFrom } = limitWith();
    expect(await madeFrom(one, 30)).toBe(WALLETS * USUAL);
    expect(await madeFrom(other, 30)).toBe(WALLETS * USUAL);
    expect(await madeFrom(third, 30)).toBe(0);
    expect(await madeFrom('198.51.100.1', 1)).toBe(1);
  },
);

test('who has no address counts by his wallet', async () => {
  const { madeFrom } = limitWith();
  expect(await madeFrom(undefined, 30)).toBe(30);
});

test('a wallet to which operators gave more, and an operator, make their changes wherever others have made all', async () => {
  const { changes, madeFrom } = limitWith();
  const client = '192.0.2.1';
  await madeFrom(client, WALLETS * USUAL);
  for (let n = 0; n < 3 * USUAL; n += 1) await changes.count({ wallet: 'known', client });
  expect(await codeOf(changes.count({ wallet: 'known', client }))).toBe('rate_limited');
  await changes.count({ wallet: 'operator', client });
});

test('what was refused, and what is taken back, counts neither for its wallet nor for its address', async () => {
  const { changes, clock, madeFrom } = limitWith();
  const client = '192.0.2.1';
  const takeBack = await changes.count({ wallet: 'one', client });
  await changes.count({ wallet: 'one', client });
  for (let n = 0; n < 9; n += 1) expect(await codeOf(changes.count({ wallet: 'one', client }))).toBe('rate_limited');
  takeBack();
  await changes.count({ wallet: 'one', client });
  expect(await madeFrom(client, 30)).toBe((WALLETS - 1) * USUAL);
  await clock.advance(DAY_MS + 1);
  expect(await madeFrom(client, 1)).toBe(1);
});
