import { createDelegations, type Delegations } from '../../../src/identity/delegations.js';
import type { Counters } from '../../../src/storage/counters/counters.js';
import { createMemoryCounters } from '../../../src/storage/counters/memory-counters.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { codeOf } from '../../helpers/code-of.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { BOTH_DATABASES } from '../../helpers/storage/both-databases.js';
import { testClock } from '../../helpers/test-clock.js';
import { type WalletKey, walletKey } from '../../helpers/transactions/wallet-key.js';

const MINUTE = 60_000;
const [cold, one, other] = [walletKey('cold'), walletKey('one'), walletKey('other')];
let fixture: TollFixture;

beforeAll(async () => {
  fixture = await openTollFixture();
});
afterAll(() => fixture.close());

interface Instances {
  readonly first: Delegations;
  readonly second: Delegations;
  readonly advance: (milliseconds: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

type Stores = (
  now: () => number,
) => Promise<{ readonly counters: readonly [Counters, Counters]; close(): Promise<void> }>;

const memory: Stores = async (now) => {
  const counters = createMemoryCounters({ now });
  return { counters: [counters, counters], close: () => counters.close() };
};

const STORES: readonly [name: string, open: Stores][] = [
  ['memory', memory],
  ...BOTH_DATABASES.map(([name, start]): [string, Stores] => [
    name,
    async (now) => {
      const database = await start();
      const a = await openStorage(database.url, { now });
      const b = database.url === 'memory:' ? a : await openStorage(database.url, { now });
      const close = async () => {
        await Promise.all(a === b ? [a.close()] : [a.close(), b.close()]);
        await database.stop();
      };
      return { counters: [a.counters, b.counters], close };
    },
  ]),
];

async function open(stores: Stores): Promise<Instances> {
  const { now, advance } = testClock();
  const { counters, close } = await stores(now);
  const make = (kept: Counters) =>
    createDelegations({ facilitator: fixture.facilitator, domain: 'club.example', counters: kept, now });
  return { first: make(counters[0]), second: make(counters[1]), advance, close };
}

describe.each(STORES)('what a cold wallet says, on two instances that share %s', (_name, stores) => {
  let instances: Instances;
  const sign = (by: Delegations, delegate: WalletKey, holder = cold) => {
    const message = by.statement({ holder: holder.address, delegate: delegate.address });
    return { message, signature: holder.sign(message) };
  };
  const standing = async () => {
    const all = [instances.first, instances.second].flatMap((by) =>
      [one, other].map(({ address }) => by.holderFor(address)),
    );
    return (await Promise.all(all)).map((holder) => holder === cold.address);
  };

  beforeEach(async () => {
    instances = await open(stores);
  });
  afterEach(() => instances.close());

  test('counts in the order in which it was said, whichever is handed in first', async () => {
    const { first, second, advance } = instances;
    const earlier = sign(first, one);
    await advance(MINUTE);
    const later = sign(second, other);
    await advance(MINUTE);
    expect(await second.accept(other.address, later)).toBe(cold.address);
    expect(await codeOf(first.accept(one.address, earlier))).toBe('invalid_delegation');
    expect(await standing()).toEqual([false, true, false, true]);
  });

  test('is taken in its order, and once more while it is the last word', async () => {
    const { first, second, advance } = instances;
    const earlier = sign(first, one);
    await advance(MINUTE);
    const later = sign(second, other);
    expect(await second.accept(one.address, earlier)).toBe(cold.address);
    expect(await standing()).toEqual([true, false, true, false]);
    expect(await first.accept(other.address, later)).toBe(cold.address);
    expect(await second.accept(other.address, later)).toBe(cold.address);
    expect(await standing()).toEqual([false, true, false, true]);
  });

  test.each(['cold', 'delegate'])(
    'is over with a revoke by the %s wallet, also what was kept for later',
    async (by) => {
      const { first, second, advance } = instances;
      await first.accept(one.address, sign(first, one));
      const [spare, toOther] = [sign(first, one), sign(second, other)];
      await advance(1);
      await second.revoke(by === 'cold' ? cold.address : one.address);
      await advance(MINUTE);
      expect(await codeOf(first.accept(one.address, spare))).toBe('invalid_delegation');
      expect(await codeOf(second.accept(other.address, toOther))).toBe('invalid_delegation');
      expect(await standing()).toEqual([false, false, false, false]);
      expect(await second.accept(one.address, sign(first, one))).toBe(cold.address);
      expect(await standing()).toEqual([true, false, true, false]);
    },
  );

  test('and was never handed in is over with a revoke, for as long as it can come', async () => {
    const { first, second, advance } = instances;
    await advance(MINUTE);
    const said = sign(first, one);
    await advance(1);
    await first.revoke(cold.address);
    await advance(10 * MINUTE - 2);
    expect(await codeOf(second.accept(one.address, said))).toBe('invalid_delegation');
    expect(await second.accept(one.address, sign(second, one))).toBe(cold.address);
  });

  test('ends with one delegate when many are handed in at once: the last that was named', async () => {
    const { first, second } = instances;
    const crowd = Array.from({ length: 12 }, (_, at) => walletKey(`crowd ${at}`));
    const statements: [WalletKey, ReturnType<typeof sign>][] = [];
    for (const wallet of crowd) {
      statements.push([wallet, sign(first, wallet)]);
      await instances.advance(1);
    }
    await Promise.allSettled(
      statements.reverse().map(([{ address }, signed], at) => (at % 2 === 0 ? first : second).accept(address, signed)),
    );
    const standing = await Promise.all(
      crowd.map(async ({ address }) => (await second.holderFor(address)) !== undefined),
    );
    expect(standing).toEqual([...Array(11).fill(false), true]);
  });
});

test('a statement that is dated in the future is refused', async () => {
  const { first, advance, close } = await open(memory);
  await advance(MINUTE);
  const message = first.statement({ holder: cold.address, delegate: one.address });
  await advance(-MINUTE);
  const signed = { message, signature: cold.sign(message) };
  expect(await codeOf(first.accept(one.address, signed))).toBe('invalid_delegation');
  await advance(MINUTE);
  expect(await first.accept(one.address, signed)).toBe(cold.address);
  await close();
});

test('a revoke counts where strangers have pushed its entry out of a memory store', async () => {
  const { now, advance } = testClock();
  const kept = createMemoryCounters({ now });
  const keys = new Set<string>();
  const replace: Counters['replace'] = (key, ...asked) => kept.replace(keys.add(key) && key, ...asked);
  const counters = { ...kept, replace };
  const make = createDelegations({ facilitator: fixture.facilitator, domain: 'club.example', counters, now });
  const message = make.statement({ holder: cold.address, delegate: one.address });
  await advance(1);
  await make.revoke(cold.address);
  for (const key of keys) await counters.remove(key);
  expect(await codeOf(make.accept(one.address, { message, signature: cold.sign(message) }))).toBe('invalid_delegation');
  await counters.close();
});

describe('what is said at one site, on one storage', () => {
  const { now } = testClock();
  const at = (domain: string, network: 'solana' | 'solana-devnet', counters: Counters) =>
    createDelegations({ facilitator: { ...fixture.facilitator, network }, domain, counters, now });
  async function say(by: Delegations, delegate: WalletKey): Promise<void> {
    const message = by.statement({ holder: cold.address, delegate: delegate.address });
    await by.accept(delegate.address, { message, signature: cold.sign(message) });
  }

  test.each([
    ['domain', 'test.club.example', 'solana'],
    ['network', 'club.example', 'solana-devnet'],
  ] as const)('is nothing at another %s, and neither is a revoke there', async (_what, domain, network) => {
    const counters = createMemoryCounters({ now });
    const [live, elsewhere] = [at('club.example', 'solana', counters), at(domain, network, counters)];
    await say(elsewhere, one);
    expect([await elsewhere.holderFor(one.address), await live.holderFor(one.address)]).toEqual([
      cold.address,
      undefined,
    ]);
    await say(live, other);
    expect([await elsewhere.holderFor(one.address), await live.holderFor(other.address)]).toEqual([
      cold.address,
      cold.address,
    ]);
    await elsewhere.revoke(cold.address);
    expect([await elsewhere.holderFor(one.address), await live.holderFor(other.address)]).toEqual([
      undefined,
      cold.address,
    ]);
    const wallets = (delegate: WalletKey) => ({ holder: cold.address, delegate: delegate.address });
    expect(await elsewhere.comesAlone(wallets(one), 'vault', MINUTE)).toBe(true);
    expect(await live.comesAlone(wallets(other), 'vault', MINUTE)).toBe(true);
    expect(await live.comesAlone(wallets(one), 'vault', MINUTE)).toBe(false);
    await counters.close();
  });

  test('lets nobody in that was kept without its site, and does not come back either', async () => {
    const counters = createMemoryCounters({ now });
    const live = at('club.example', 'solana', counters);
    const message = live.statement({ holder: cold.address, delegate: other.address });
    await counters.put(`holder-for:${one.address}`, cold.address, 90 * MINUTE);
    await counters.put(
      `delegate-of:${cold.address}`,
      `${now() + 1000} ${now() + 90 * MINUTE} ${one.address}`,
      90 * MINUTE,
    );
    expect(await live.holderFor(one.address)).toBeUndefined();
    expect(await codeOf(live.accept(other.address, { message, signature: cold.sign(message) }))).toBe(
      'invalid_delegation',
    );
    await counters.close();
  });
});
