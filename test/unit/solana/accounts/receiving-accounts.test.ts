import { Keypair } from '@solana/web3.js';
import { createReceivingAccounts, type ReceivingAccount } from '../../../../src/solana/accounts/receiving-accounts.js';
import type { AccountState } from '../../../../src/solana/rpc/rpc.js';
import { PROGRAMS } from '../../../../src/solana/transaction/programs.js';

const newKey = () => Keypair.generate().publicKey;
const newReceiving = (): ReceivingAccount => ({ account: newKey().toBase58(), wallet: newKey().toBase58() });
const heldBy = (wallet: Uint8Array, owner: string = PROGRAMS.token): AccountState => {
  const data = new Uint8Array(165);
  data.set(wallet, 32);
  return { lamports: 1n, owner, data };
};

/** A memory over a chain of these accounts, and what was asked of the chain. */
function open() {
  const states = new Map<string, AccountState>();
  const asked: (readonly string[])[] = [];
  const accounts = createReceivingAccounts({
    async getAccounts(addresses) {
      asked.push(addresses);
      return addresses.map((it) => states.get(it) ?? null);
    },
  });
  return { accounts, states, asked };
}

test('an account is foreign where it names another wallet, under either token program', () => {
  const { accounts } = open();
  const key = newKey();
  const receiving = { account: newKey().toBase58(), wallet: key.toBase58() };
  for (const program of [PROGRAMS.token, PROGRAMS.token2022]) {
    expect(accounts.isForeign(receiving, heldBy(key.toBytes(), program))).toBe(false);
    expect(accounts.isForeign(receiving, heldBy(newKey().toBytes(), program))).toBe(true);
  }
});

test('what is no token account has passed to nobody, and is asked for again', async () => {
  const { accounts, states, asked } = open();
  const receiving = newReceiving();
  const empty: AccountState = { lamports: 1n, owner: PROGRAMS.system, data: new Uint8Array() };
  const short: AccountState = { lamports: 1n, owner: PROGRAMS.token, data: new Uint8Array(64) };
  for (const state of [null, empty, short]) {
    expect(accounts.isForeign(receiving, state)).toBe(false);
    if (state !== null) states.set(receiving.account, state);
    expect(await accounts.isAnyForeign([receiving])).toBe(false);
  }
  expect(asked).toHaveLength(3);
});

test('what is right is asked once, all that is not known by one call, and what is wrong each time', async () => {
  const { accounts, states, asked } = open();
  const key = newKey();
  const mine = { account: newKey().toBase58(), wallet: key.toBase58() };
  const [foreign, other] = [newReceiving(), newReceiving()];
  states.set(mine.account, heldBy(key.toBytes()));
  for (const { account } of [foreign, other]) states.set(account, heldBy(newKey().toBytes()));
  expect(await accounts.isAnyForeign([mine, foreign])).toBe(true);
  expect(await accounts.isAnyForeign([mine])).toBe(false);
  expect(await accounts.isAnyForeign([mine, foreign, other])).toBe(true);
  expect(asked).toEqual([
    [mine.account, foreign.account],
    [foreign.account, other.account],
  ]);
});

test('one that was seen to have passed to another wallet is not right any more', async () => {
  const { accounts, asked } = open();
  const key = newKey();
  const mine = { account: newKey().toBase58(), wallet: key.toBase58() };
  expect(accounts.isForeign(mine, heldBy(key.toBytes()))).toBe(false);
  expect(await accounts.isAnyForeign([mine])).toBe(false);
  expect(asked).toEqual([]);
  expect(accounts.isForeign(mine, heldBy(newKey().toBytes()))).toBe(true);
  await accounts.isAnyForeign([mine]);
  expect(asked).toHaveLength(1);
});
