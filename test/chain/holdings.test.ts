import { createHoldings } from '../../src/access/holdings.js';
import { remoteFacilitator } from '../../src/facilitator/remote/remote-facilitator.js';
import type { Facilitator } from '../../src/facilitator/types.js';
import { addressBytes } from '../../src/protocol/address.js';
import type { RuntimeAccount } from '../../src/sandbox/runtime/runtime.js';
import type { Sandbox } from '../../src/sandbox/start-sandbox.js';
import { associatedTokenAddress } from '../../src/solana/transaction/associated-token.js';
import { PROGRAMS } from '../../src/solana/transaction/programs.js';
import { codeOf } from '../helpers/code-of.js';
import { openTollFixture, type TollFixture } from '../helpers/fixtures/toll-fixture.js';
import { walletKey } from '../helpers/transactions/wallet-key.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const WRAPPED_SOL = 'So11111111111111111111111111111111111111112';
const U64_MAX = 2n ** 64n - 1n;
const OWNER_OFFSET = 32;

let fixture: TollFixture;
let sandbox: Sandbox;
let facilitator: Facilitator;
let names = 0;

beforeAll(async () => {
  fixture = await openTollFixture({ slotMs: 0, confirmedAfterSlots: 0 });
  ({ sandbox, facilitator } = fixture);
});
afterAll(() => fixture.close());
beforeEach(() => sandbox.resetCalls());
afterEach(() => sandbox.faults.clear());

/** An address that nothing is at yet. */
const fresh = (): string => walletKey(`holdings ${names++}`).address;
const exactly = (wallet: string, ...mints: string[]) => facilitator.readHolding({ wallet, mints });
const copyOf = (address: string): RuntimeAccount => {
  const state = sandbox.account(address);
  if (state === null) throw new Error(`nothing at ${address}`);
  return { ...state, data: Uint8Array.from(state.data) };
};

/** A token account beside the associated one. */
function fundFurtherAccount(wallet: string, mint: string, amount: bigint): string {
  const model = sandbox.fundToken(fresh(), mint, amount);
  const state = copyOf(model);
  state.data.set(addressBytes(wallet), OWNER_OFFSET);
  const address = fresh();
  sandbox.setAccount(address, state);
  return address;
}

describe('what a wallet holds', () => {
  test.each([
    ['SPL Token', {}],
    ['Token-2022', { program: 'token-2022' }],
    ['Token-2022 with extensions', { extensions: { transferFee: { basisPoints: 100, maximumFee: 5n } } }],
  ] as const)('of a %s mint is the sum over all its accounts', async (_name, options) => {
    const { mint } = sandbox.createMint(options);
    const wallet = fresh();
    sandbox.fundToken(wallet, mint, 5n);
    fundFurtherAccount(wallet, mint, 30n);
    fundFurtherAccount(wallet, mint, 7n);
    sandbox.fundToken(fresh(), mint, 1_000n);
    sandbox.fundToken(wallet, USDC, 1_000n);

    expect(await exactly(wallet, mint)).toEqual({ amount: 42n, exact: true });
  });

  test('is exact where a double is not', async () => {
    const { mint } = sandbox.createMint({ decimals: 9 });
    const wallet = fresh();
    sandbox.fundToken(wallet, mint, U64_MAX - 1n);

    expect(await exactly(wallet, mint)).toEqual({ amount: U64_MAX - 1n, exact: true });
  });

  test('is nothing for a wallet without account, and of a mint that does not exist', async () => {
    expect(await exactly(fresh(), USDC)).toEqual({ amount: 0n, exact: true });
    expect(await exactly(fresh(), fresh())).toEqual({ amount: 0n, exact: true });
    expect(await facilitator.readHolding({ wallet: fresh(), mints: [fresh()], atLeast: 1n })).toEqual({
      amount: 0n,
      exact: true,
    });
  });

  test('of SOL is its lamports and its wrapped SOL', async () => {
    const wallet = fresh();
    sandbox.airdrop(wallet, 3_000_000_001n);
    expect(await exactly(wallet, WRAPPED_SOL)).toEqual({ amount: 3_000_000_001n, exact: true });

    const { mint } = sandbox.createMint({ decimals: 9 });
    sandbox.setAccount(WRAPPED_SOL, copyOf(mint));
    sandbox.fundToken(wallet, WRAPPED_SOL, 500n);
    expect(await exactly(wallet, WRAPPED_SOL)).toEqual({ amount: 3_000_000_501n, exact: true });
    expect(await facilitator.readHolding({ wallet, mints: [WRAPPED_SOL], atLeast: 3_000_000_002n })).toEqual({
      amount: 3_000_000_501n,
      exact: false,
    });
  });

  test('is not what is in an associated account that was given away', async () => {
    const [giver, taker] = [fresh(), fresh()];
    const account = sandbox.fundToken(giver, USDC, 100n);
    const state = copyOf(account);
    state.data.set(addressBytes(taker), OWNER_OFFSET);
    sandbox.setAccount(account, state);

    expect(await facilitator.readHolding({ wallet: giver, mints: [USDC], atLeast: 1n })).toEqual({
      amount: 0n,
      exact: true,
    });
    expect(await facilitator.readHolding({ wallet: taker, mints: [USDC], atLeast: 1n })).toEqual({
      amount: 100n,
      exact: true,
    });
  });

  test('of a collection is the number of its NFTs, whichever program they are of', async () => {
    const collection = Array.from({ length: 20 }, (_, index) =>
      sandbox.createMint({ decimals: 0, program: index % 2 === 0 ? 'spl-token' : 'token-2022' }),
    ).map(({ mint }) => mint);
    const wallet = fresh();
    const [first = '', second = ''] = collection;
    sandbox.fundToken(wallet, first, 1n);
    fundFurtherAccount(wallet, second, 1n);
    sandbox.fundToken(wallet, sandbox.createMint({ decimals: 0 }).mint, 1n);

    expect(await exactly(wallet, ...collection)).toEqual({ amount: 2n, exact: true });
    expect(await exactly(wallet, ...collection.slice(0, 3))).toEqual({ amount: 2n, exact: true });
    expect(await exactly(fresh(), ...collection)).toEqual({ amount: 0n, exact: true });
  });

  test('follows the chain: nothing is cached', async () => {
    const wallet = fresh();
    sandbox.fundToken(wallet, USDC, 1n);
    expect((await exactly(wallet, USDC)).amount).toBe(1n);
    sandbox.fundToken(wallet, USDC, 1n);
    expect((await exactly(wallet, USDC)).amount).toBe(2n);
  });
});

describe('what a look costs', () => {
  test('250 wallets whose associated accounts suffice cost three calls', async () => {
    const wallets = Array.from({ length: 250 }, fresh);
    for (const wallet of wallets) sandbox.fundToken(wallet, USDC, 10n);
    const found = await Promise.all(
      wallets.map((wallet) => facilitator.readHolding({ wallet, mints: [USDC], atLeast: 10n })),
    );

    expect(found).toEqual(wallets.map(() => ({ amount: 10n, exact: false })));
    expect(sandbox.calls.getMultipleAccounts).toBe(3);
  });

  test('the other accounts are looked at only where the associated one does not decide', async () => {
    const wallet = fresh();
    sandbox.fundToken(wallet, USDC, 10n);
    fundFurtherAccount(wallet, USDC, 5n);

    expect(await facilitator.readHolding({ wallet, mints: [USDC], atLeast: 10n })).toMatchObject({ exact: false });
    expect(sandbox.calls.getTokenAccountsByOwner).toBe(0);
    expect(await facilitator.readHolding({ wallet, mints: [USDC], atLeast: 11n })).toEqual({
      amount: 15n,
      exact: true,
    });
    expect(sandbox.calls.getTokenAccountsByOwner).toBe(1);
  });

  test('mints of the same moment are read in one call and remembered', async () => {
    const mints = Array.from({ length: 5 }, () => sandbox.createMint({ decimals: 3 }).mint);
    const facts = await Promise.all([...mints, ...mints].map((mint) => facilitator.readMint(mint)));
    await Promise.all(mints.map((mint) => facilitator.readMint(mint)));

    expect(facts).toEqual(facts.map(() => ({ decimals: 3, program: PROGRAMS.token })));
    expect(sandbox.calls.total).toBe(1);
  });
});

describe('a mint', () => {
  test('is none where there is nothing, a wallet, or a token account', async () => {
    const wallet = fresh();
    sandbox.airdrop(wallet, 1_000_000n);
    const { mint } = sandbox.createMint({ extensions: { nonTransferable: true } });
    const accounts = [sandbox.fundToken(wallet, USDC, 1n), sandbox.fundToken(wallet, mint, 1n)];

    for (const address of [fresh(), wallet, ...accounts]) {
      expect(await facilitator.readMint(address)).toBeUndefined();
    }
    expect(await facilitator.readMint(mint)).toEqual({ decimals: 6, program: PROGRAMS.token2022 });
  });
});

test('a remote facilitator says that it cannot look', async () => {
  const remote = remoteFacilitator({ url: 'http://127.0.0.1:9', network: 'solana-devnet' });
  expect(await codeOf(remote.readMint(USDC))).toBe('not_configured');
  expect(await codeOf(remote.readHolding({ wallet: fresh(), mints: [USDC] }))).toBe('not_configured');
  await remote.close();
});

describe('remembered holdings', () => {
  const STALE_MS = 15_000;
  let time = 0;
  const remember = () => createHoldings({ facilitator, now: () => time });
  const lose = (wallet: string, mint: string) =>
    sandbox.setAccount(associatedTokenAddress(wallet, mint, PROGRAMS.token), {
      ...copyOf(sandbox.fundToken(fresh(), mint, 0n)),
    });

  test('a wallet that loses its tokens has lost them within the stated staleness, and not before', async () => {
    const holdings = remember();
    const query = { wallet: fresh(), mints: [USDC], atLeast: 100n };
    sandbox.fundToken(query.wallet, USDC, 100n);
    expect(holdings.staleMs).toBe(STALE_MS);
    expect((await holdings.readHolding(query)).amount).toBe(100n);
    lose(query.wallet, USDC);

    time += STALE_MS - 1;
    expect((await holdings.readHolding(query)).amount).toBe(100n);
    time += 1;
    expect(await holdings.readHolding(query)).toEqual({ amount: 0n, exact: true });
  });

  test('that a wallet holds nothing is remembered as well', async () => {
    const holdings = remember();
    const query = { wallet: fresh(), mints: [USDC], atLeast: 1n };
    await Promise.all(Array.from({ length: 20 }, () => holdings.readHolding(query)));
    const calls = sandbox.calls.total;
    await holdings.readHolding(query);
    expect(sandbox.calls.total).toBe(calls);

    sandbox.fundToken(query.wallet, USDC, 1n);
    time += STALE_MS;
    expect((await holdings.readHolding(query)).amount).toBe(1n);
  });

  test('too little is looked up again for whoever is to top it up, in one look for all, and enough is remembered', async () => {
    const { forAnybody } = remember();
    const query = { wallet: fresh(), mints: [USDC], atLeast: 2n, looksAgain: true };
    const askTwice = async () => {
      const before = sandbox.calls.total;
      const found = await Promise.all([forAnybody.readHolding(query), forAnybody.readHolding(query)]);
      return [found.map(({ amount }) => amount), sandbox.calls.total - before];
    };
    const before = await askTwice();
    sandbox.fundToken(query.wallet, USDC, 2n);
    const after = await askTwice();
    expect([before[0], after[0], await askTwice()]).toEqual([
      [0n, 0n],
      [2n, 2n],
      [[2n, 2n], 0],
    ]);
    expect(after[1]).toBe(1);
  });

  test('1,000 questions about 100 wallets cost one call, in each window', async () => {
    const holdings = remember();
    const wallets = Array.from({ length: 100 }, fresh);
    for (const wallet of wallets) sandbox.fundToken(wallet, USDC, 10n);
    for (const window of [1, 2, 3]) {
      const questions = Array.from({ length: 1_000 }, (_, index) => wallets[index % 100] ?? '');
      const found = await Promise.all(
        questions.map((wallet) => holdings.readHolding({ wallet, mints: [USDC], atLeast: 10n })),
      );
      expect(found.every(({ amount }) => amount === 10n)).toBe(true);
      expect(sandbox.calls.total).toBe(window);
      time += STALE_MS;
    }
  });

  test('a look that stopped early does not answer for more than it saw', async () => {
    const holdings = remember();
    const wallet = fresh();
    sandbox.fundToken(wallet, USDC, 10n);
    fundFurtherAccount(wallet, USDC, 90n);
    const ask = (atLeast?: bigint) =>
      holdings.readHolding({ wallet, mints: [USDC], ...(atLeast === undefined ? {} : { atLeast }) });

    const [ten, hundred, all] = await Promise.all([ask(10n), ask(100n), ask()]);
    expect([ten.amount, hundred.amount, all.amount]).toEqual([10n, 100n, 100n]);
    expect((await ask(10n)).amount).toBe(100n);
  });

  test('collections do not answer for one another', async () => {
    const holdings = remember();
    const wallet = fresh();
    const mints = [0, 1, 2, 3].map(() => sandbox.createMint({ decimals: 0 }).mint);
    sandbox.fundToken(wallet, mints[0] ?? '', 1n);

    expect((await holdings.readHolding({ wallet, mints: mints.slice(0, 2) })).amount).toBe(1n);
    expect((await holdings.readHolding({ wallet, mints: mints.slice(2) })).amount).toBe(0n);
  });

  test('an outage is told as one, and is over when it is over', async () => {
    const holdings = remember();
    const query = { wallet: fresh(), mints: [USDC], atLeast: 1n };
    sandbox.fundToken(query.wallet, USDC, 1n);
    sandbox.faults.add({ kind: 'error' });
    expect(await codeOf(holdings.readHolding(query))).toBe('chain_unavailable');
    expect(await codeOf(facilitator.readMint(fresh()))).toBe('chain_unavailable');

    sandbox.faults.clear();
    expect((await holdings.readHolding(query)).amount).toBe(1n);
  });

  test.each([
    [{ staleMs: -1 }, /"staleMs" must be at least 0/],
    [{ stale: 1 }, /did you mean "staleMs"/],
    [{ facilitator: {} }, /a facilitator/],
  ])('options %j are refused', (options, message) => {
    expect(() => createHoldings({ facilitator, ...options } as never)).toThrow(message);
  });
});
