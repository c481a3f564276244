import type { Express, RequestHandler } from 'express';
import { createHoldingTimes, type HoldingTimes } from '../../../src/access/holding-times.js';
import { createHoldings } from '../../../src/access/holdings.js';
import type { Facilitator } from '../../../src/facilitator/types.js';
import { createIdentity, type WalletIdentity } from '../../../src/identity/create-identity.js';
import { createDelegations, type Delegations } from '../../../src/identity/delegations.js';
import { requireTier } from '../../../src/middleware/wallet/require-tier.js';
import { requireTokenBalance } from '../../../src/middleware/wallet/require-token-balance.js';
import { associatedTokenAddress } from '../../../src/solana/transaction/associated-token.js';
import { PROGRAMS } from '../../../src/solana/transaction/programs.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import type { Storage } from '../../../src/storage/storage.js';
import { codeOf } from '../../helpers/code-of.js';
import { SECRET } from '../../helpers/fixtures/identity-fixture.js';
import { openTollFixture, QUICK, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { accessTokenFor } from '../../helpers/http/sign-in.js';
import { type WalletKey, walletKey } from '../../helpers/transactions/wallet-key.js';
import { until } from '../../helpers/until.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const HOUR = 3_600_000;
/** Where a token account has its amount. */
const AMOUNT = [64, 72] as const;
const [friend, enemy] = [walletKey('friend'), walletKey('enemy')];
const tell: RequestHandler = ({ wallet, tier }, res) => void res.json({ wallet: wallet?.address, tier: tier?.id });
let fixture: TollFixture;
let facilitator: Facilitator;
let storage: Storage;
let identity: WalletIdentity;
let times: HoldingTimes;
let delegations: Delegations;
let mint: string;
let url: string;
let time = Date.parse('2026-01-01T00:00:00Z');
let names = 0;

beforeAll(async () => {
  fixture = await openTollFixture({ slotMs: 0, confirmedAfterSlots: 0 });
  const now = () => time;
  storage = await openStorage('memory:', { now });
  facilitator = fixture.facilitatorWith({}, QUICK);
  identity = createIdentity({ network: facilitator.network, jwtSecret: SECRET });
  times = createHoldingTimes({ store: storage.heldTimes, now });
  delegations = createDelegations({ facilitator, domain: 'club.example', counters: storage.counters, now });
  const held = createHoldings({ facilitator, staleMs: 0, strangerLooksPerSecond: 1_000 });
  const common = { facilitator, identity, holdings: held };
  const lists = { allow: [friend.address, enemy.address], deny: [enemy.address] };
  ({ mint } = fixture.sandbox.createMint({ decimals: 0 }));
  url = await fixture.serve((app: Express) => {
    app.get('/listed', requireTokenBalance({ ...common, mint: USDC, minBalance: 1, delegations, ...lists }), tell);
    app.get('/tier', requireTier({ ...common, tier: 'silver', delegations, ...lists }), tell);
    const day = { heldFor: '24h', holdingTimes: times } as const;
    app.get('/day', requireTokenBalance({ ...common, mint, minBalance: 1, ...day }), tell);
    const holdings = createHoldings({ facilitator, staleMs: 86_400_000 });
    app.get('/believed', requireTokenBalance({ ...common, holdings, mint, minBalance: 1, ...day }), tell);
    const tiers = { mint, levels: [{ id: 'one', minBalance: 1 }] };
    app.get('/believed-tier', requireTier({ ...common, holdings, tiers, ...day }), tell);
  });
});
afterAll(async () => {
  await fixture.close();
  await storage.close();
});

const fresh = (): WalletKey => walletKey(`admission ${names++}`);
const enter = async (path: string, wallet: WalletKey) =>
  fetch(`${url}${path}`, { headers: await accessTokenFor(wallet, identity, url) });
const statusAt = async (path: string, wallet: WalletKey) => (await enter(path, wallet)).status;
const codeAt = async (path: string, wallet: WalletKey) =>
  ((await (await enter(path, wallet)).json()) as { readonly code?: string }).code;

/** A wallet with so many USDC. */
function holder(usdc: bigint): WalletKey {
  const wallet = fresh();
  fixture.sandbox.fundToken(wallet.address, USDC, usdc * 1_000_000n);
  return wallet;
}

describe('lists of wallets', () => {
  test('let in who is allowed, whatever it holds', async () => {
    expect([await statusAt('/listed', friend), await statusAt('/tier', friend)]).toEqual([200, 200]);
    expect([await statusAt('/listed', fresh()), await statusAt('/listed', holder(1n))]).toEqual([403, 200]);
  });

  test('refuse who is denied, whatever it holds and whoever has allowed it', async () => {
    fixture.sandbox.fundToken(enemy.address, USDC, 10n ** 12n);
    expect([await codeAt('/listed', enemy), await codeAt('/tier', enemy)]).toEqual(['wallet_denied', 'wallet_denied']);
  });

  test.each<[string, object, RegExp]>([
    ['a list of anything', { allow: ['punk'] }, /a wallet \(base58 or PublicKey\)/],
    ['no list', { deny: 'everybody' }, /"deny" must be a list of wallets/],
    ['a time without a unit', { heldFor: '24' }, /"heldFor" must be a length of time/],
    ['too short a time', { heldFor: '59s' }, /at least a minute/],
    ['too long a time', { heldFor: '366d' }, /at most a year/],
    ['other delegations', { delegations: {} }, /made by createDelegations/],
    ['other times', { holdingTimes: {} }, /made by createHoldingTimes/],
  ])('with %s are refused at once', (_name, options, message) => {
    const gate = () => requireTokenBalance({ facilitator, mint: USDC, minBalance: 1, ...options });
    expect(gate).toThrow(message);
  });
});

test.each<[string, () => unknown, RegExp]>([
  [
    'a list of tiers',
    () => ({ tiers: [{ id: 'a', minBalance: 1 }] }),
    /"tiers": it must be an object with mint, levels, not an array/,
  ],
  [
    'a minimum by another name',
    () => ({ tiers: { levels: [{ id: 'a', min: 1 }] } }),
    /unknown option "min"; did you mean "minBalance"\?/,
  ],
])('requireTier refuses %s at once, and says what was meant', (_name, options, message) => {
  expect(() => requireTier({ facilitator, ...Object(options()) })).toThrow(message);
});

test('a gate that wants more of a collection than there is refuses that at once', () => {
  const gate = (collection: readonly string[], minBalance: number) =>
    requireTokenBalance({ facilitator, collection, minBalance });
  const [one, other] = [friend.address, enemy.address];
  expect(() => gate([one], 3)).toThrow(
    /"minBalance" is 3, which nobody can hold: there are 1 mints in option "collection"/,
  );
  expect(() => gate([one, one], 2)).toThrow(/there are 1 mints/);
  expect(() => gate([one, other], 2)).not.toThrow();
});

describe('a time of holding', () => {
  /** Moves the one token there is from wallet to wallet. */
  function pass(wallets: readonly WalletKey[], to: WalletKey): void {
    for (const { address } of wallets) {
      const account = associatedTokenAddress(address, mint, PROGRAMS.token);
      const state = fixture.sandbox.account(account);
      if (state === null) continue;
      const data = Uint8Array.from(state.data).fill(0, ...AMOUNT);
      fixture.sandbox.setAccount(account, { ...state, data });
    }
    fixture.sandbox.fundToken(to.address, mint, 1n);
  }

  /** Goes on by hours, with the looks that a server takes. */
  async function goOn(hours: number): Promise<void> {
    for (let passed = 0; passed < hours; passed += 1) {
      time += HOUR;
      await times.look();
    }
  }

  test('lets a holder in when it is over, and not before', async () => {
    const wallet = fresh();
    fixture.sandbox.fundToken(wallet.address, mint, 1n);
    const first = await enter('/day', wallet);
    expect(first.status).toBe(403);
    expect(await first.json()).toMatchObject({ code: 'held_too_short', held_seconds: 0, needed_seconds: 86_400 });
    await goOn(23);
    expect(await codeAt('/day', wallet)).toBe('held_too_short');
    await goOn(1);
    expect(await statusAt('/day', wallet)).toBe(200);
  });

  test.each(['/believed', '/believed-tier'])(
    'begins anew at %s when a look finds it gone that was shown a moment ago',
    async (path) => {
      const [wallet, other] = [fresh(), fresh()];
      pass([], wallet);
      expect(await codeAt(path, wallet)).toBe('held_too_short');
      pass([wallet], other);
      await goOn(1);
      pass([other], wallet);
      await goOn(24);
      expect(await codeAt(path, wallet)).toBe('held_too_short');
      await goOn(24);
      expect(await statusAt(path, wallet)).toBe(200);
    },
  );

  test('is over for none of ten wallets that pass one token around', async () => {
    const wallets = Array.from({ length: 10 }, fresh);
    for (const wallet of wallets) {
      pass(wallets, wallet);
      expect(await codeAt('/day', wallet)).toBe('held_too_short');
    }
    const entered: number[] = [];
    for (let hour = 0; hour < 30; hour += 1) {
      const wallet = wallets[hour % 10] ?? fresh();
      pass(wallets, wallet);
      entered.push(await statusAt('/day', wallet));
      await goOn(1);
    }
    expect(entered.filter((status) => status === 200)).toEqual([]);
  });

  test('begins anew for who gives the token away and gets it back, seen without by a look or by its own visit', async () => {
    const [wallet, visitor, other] = [fresh(), fresh(), fresh()];
    for (const { address } of [wallet, visitor]) fixture.sandbox.fundToken(address, mint, 1n);
    expect([await codeAt('/day', wallet), await codeAt('/day', visitor)]).toEqual(['held_too_short', 'held_too_short']);
    await goOn(20);
    pass([wallet, visitor], other);
    expect(await codeAt('/day', visitor)).toBe('insufficient_balance');
    pass([other], visitor);
    await goOn(1);
    fixture.sandbox.fundToken(wallet.address, mint, 1n);
    await goOn(4);
    expect([await codeAt('/day', wallet), await codeAt('/day', visitor)]).toEqual(['held_too_short', 'held_too_short']);
  });

  test('survives an outage of the chain that is shorter than a quarter of it', async () => {
    const wallet = fresh();
    fixture.sandbox.fundToken(wallet.address, mint, 1n);
    await enter('/day', wallet);
    await goOn(12);
    fixture.sandbox.faults.add({ kind: 'error' });
    await goOn(5);
    fixture.sandbox.faults.clear();
    const query = { wallet: wallet.address, mints: [mint] };
    await until(() => facilitator.readHolding(query).then(Boolean, () => false));
    await goOn(7);
    expect(await statusAt('/day', wallet)).toBe(200);
  });
});

describe('a wallet that stands for another', () => {
  const signed = (cold: WalletKey, delegate: string, by = cold) => {
    const message = delegations.statement({ holder: cold.address, delegate });
    return { message, signature: by.sign(message) };
  };

  test('comes in with what the other holds, until that is taken back by either', async () => {
    const [cold, hot] = [holder(1_000n), fresh()];
    expect(await statusAt('/listed', hot)).toBe(403);
    for (const revoker of [cold, hot]) {
      expect(await delegations.accept(hot.address, signed(cold, hot.address))).toBe(cold.address);
      expect([await statusAt('/listed', hot), await statusAt('/tier', hot)]).toEqual([200, 200]);
      await delegations.revoke(revoker.address);
      expect([await statusAt('/listed', hot), await statusAt('/tier', hot)]).toEqual([403, 403]);
    }
  });

  test('is one at a time: a cold wallet does not let ten in', async () => {
    const cold = holder(1_000n);
    const hot = Array.from({ length: 10 }, fresh);
    for (const { address } of hot) await delegations.accept(address, signed(cold, address));
    const statuses = await Promise.all(hot.map((wallet) => statusAt('/listed', wallet)));
    expect(statuses).toEqual([...Array(9).fill(403), 200]);
  });

  test('stands for one only, the last that said so', async () => {
    const [first, second, hot] = [holder(1n), holder(0n), fresh()];
    await delegations.accept(hot.address, signed(first, hot.address));
    await delegations.accept(hot.address, signed(second, hot.address));
    expect(await statusAt('/listed', hot)).toBe(403);
  });

  test('does not come in for one that is denied', async () => {
    const hot = fresh();
    await delegations.accept(hot.address, signed(enemy, hot.address));
    expect(await codeAt('/listed', hot)).toBe('wallet_denied');
  });

  test('loses that when its time is over', async () => {
    const [cold, hot] = [holder(1n), fresh()];
    await delegations.accept(hot.address, signed(cold, hot.address));
    time += 90 * 24 * HOUR - 1;
    expect(await delegations.holderFor(hot.address)).toBe(cold.address);
    time += 1;
    expect(await delegations.holderFor(hot.address)).toBeUndefined();
  });

  test('is not made by who has not signed, for who is not named, elsewhere, later, or twice', async () => {
    const [cold, hot, thief] = [holder(1_000n), fresh(), fresh()];
    const refused = (delegate: WalletKey, statement: { message: string; signature: string }) =>
      codeOf(delegations.accept(delegate.address, statement));
    const good = signed(cold, hot.address);
    const elsewhere = good.message.replaceAll('club.example', 'evil.example');
    const longer = good.message.replace(/(?<=Expiration Time: )\d+/, '2099');

    expect(await refused(hot, signed(cold, hot.address, thief))).toBe('invalid_delegation');
    expect(await refused(thief, good)).toBe('invalid_delegation');
    expect(await refused(hot, { message: elsewhere, signature: cold.sign(elsewhere) })).toBe('invalid_delegation');
    expect(await refused(hot, { message: longer, signature: cold.sign(longer) })).toBe('invalid_delegation');
    expect(await refused(hot, { message: 'let me in', signature: cold.sign('let me in') })).toBe('invalid_delegation');
    time += 600_000;
    expect(await refused(hot, good)).toBe('invalid_delegation');
    time -= 600_000;
    expect(await delegations.accept(hot.address, good)).toBe(cold.address);
    await delegations.revoke(cold.address);
    expect(await refused(hot, good)).toBe('invalid_delegation');
    expect(await statusAt('/listed', hot)).toBe(403);
  });
});
