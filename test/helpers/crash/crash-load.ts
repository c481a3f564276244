import { setTimeout as pause } from 'node:timers/promises';
import type { Keypair } from '@solana/web3.js';
import { until } from '../until.js';
import { type CrashFixture, PRICE, type Seller } from './crash-fixture.js';
import { insist, type Order, orderAtGate, type Reply } from './orders.js';

/** An order, and what it was answered until it was served or refused. */
export interface Bought {
  readonly order: Order;
  readonly replies: readonly Reply[];
}

/** What a run of random kills came to. */
export interface CrashRun {
  readonly kills: number;
  readonly bought: readonly Bought[];
  /** The process that lived to see the end. */
  readonly survivor: Seller;
}

/** How a run goes. */
export interface CrashLoad {
  readonly database: string;
  readonly kills: number;
  readonly clients: number;
  readonly leaseMs: number;
  /** Random number from 0 up to 1. */
  readonly random: () => number;
}

const FUNDS = '1000';
/** So many calls and handlers pass at most between a start and the kill, and so long after the last of them. */
const MOST_THINGS = 40;
const MOST_MS = 12;
/** Orders of each client after the last kill. */
const LAST_ORDERS = 2;

/** Clients buy all the time, each payment with insistence, while the process that serves them is killed again and again. */
export async function runCrashLoad(fixture: CrashFixture, load: CrashLoad): Promise<CrashRun> {
  const { kills, clients, random } = load;
  const start = (): Promise<Seller> => fixture.startSeller(load.database, load.leaseMs);
  const bought: Bought[] = [];
  let things = 0;
  const count = (): void => {
    things += 1;
  };
  fixture.onHandled = count;
  fixture.proxy.onAnswered = count;
  let seller = await start();
  let ends = false;

  async function buy(wallet: Keypair, client: number): Promise<void> {
    let left = LAST_ORDERS;
    for (let at = 0; left > 0; at += 1) {
      if (ends) left -= 1;
      const door = random() < 0.5 ? 'after' : 'before';
      const order = await orderAtGate(fixture, wallet, `/${door}/${client}-${at}`);
      bought.push({ order, replies: await insist(() => seller.url, order) });
    }
  }

  const wallets = await Promise.all(
    Array.from({ length: clients }, () => fixture.sandbox.createWallet({ usdc: FUNDS })),
  );
  const buying = Promise.all(wallets.map(buy));
  for (let at = 0; at < kills; at += 1) {
    things = 0;
    const enough = 1 + Math.floor(random() * MOST_THINGS);
    await until(() => things >= enough);
    await pause(random() * MOST_MS);
    await seller.kill();
    seller = await start();
  }
  ends = true;
  await buying;
  return { kills, bought, survivor: seller };
}

/** What each wallet has spent, against what it was served, in atomic units: those where that differs. */
export function overcharged(fixture: CrashFixture, bought: readonly Bought[]): readonly string[] {
  const wallets = new Set(bought.map(({ order }) => order.wallet));
  return [...wallets].flatMap((wallet) => {
    const address = wallet.publicKey.toBase58();
    const orders = bought.filter(({ order }) => order.wallet === wallet).length;
    const spent = 1_000_000_000n - fixture.held(address);
    return spent === PRICE * BigInt(orders) ? [] : [`${address} was served ${orders} times and has spent ${spent}`];
  });
}
