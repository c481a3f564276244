import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqlite } from '../../src/storage/sql/sqlite/sqlite-database.js';
import type { Contestant } from './contestant.js';
import type { BenchPart, Figure } from './figure.js';
import { fillPayments } from './fill-payments.js';
import { firstTerms, presign } from './presigned.js';
import { cpuRatio, measured, medianOf, type Runner, race } from './race.js';
import { type SellerChoice, type Sellers, withSellers } from './sellers.js';
import { sendAll } from './send-all.js';

const SLOT_MS = 20;
const AT_ONCE = 16;
const FLAT = 1.15;

/** What grows, and how a seller is set up with so many of it. */
interface Growth {
  readonly what: string;
  readonly sizes: readonly number[];
  choose(size: number): SellerChoice | Promise<SellerChoice>;
}

/** Whether a paid request costs the same, in processor time of the server, however much has gathered around it. */
export const growthBench: BenchPart = {
  name: 'growth',
  async run({ quick, progress }) {
    const folder = mkdtempSync(join(tmpdir(), 'tollhouse-bench-'));
    const growths: readonly Growth[] = [
      { what: 'payments in the ledger', sizes: [10, 1_000, 100_000], choose: (size) => filled(folder, size) },
      { what: 'gated routes', sizes: [1, 100, 1_000], choose: (size) => ({ kind: 'ours', otherRoutes: size - 1 }) },
      { what: 'fee payers', sizes: [1, 4, 16], choose: (size) => ({ kind: 'ours', feePayers: size }) },
    ];
    const [rounds, count] = quick ? [3, 32] : [9, 160];
    try {
      const figures: Figure[] = [];
      for (const growth of growths) {
        const told = (round: number) => progress(`${growth.what}, round ${round}`);
        figures.push(...(await withSellers(SLOT_MS, (sellers) => grow(sellers, growth, { rounds, count, told }))));
      }
      return figures;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

interface Extent {
  readonly rounds: number;
  readonly count: number;
  told(round: number): void;
}

async function grow(sellers: Sellers, { what, sizes, choose }: Growth, { rounds, count, told }: Extent) {
  const runners: Record<string, Runner> = {};
  for (const size of sizes) {
    runners[`n${size}`] = payer(sellers, await sellers.start(await choose(size)), count);
  }
  const laps = await race(runners, rounds, told);
  const [smallest = 0, ...larger] = sizes;
  const lapsOf = (size: number) => laps[`n${size}`] ?? [];
  const least = {
    name: `${smallest} ${what}: processor time a request`,
    value: medianOf(lapsOf(smallest), 'cpuMs'),
    unit: 'ms',
  };
  const ratios = larger.map((size) => ({
    name: `${size} ${what}: processor time to that with ${smallest}`,
    value: cpuRatio(lapsOf(size), lapsOf(smallest)),
    unit: '×',
    atMost: FLAT,
  }));
  return [...ratios, least];
}

function payer({ chain, payer }: Sellers, contestant: Contestant, count: number): Runner {
  const url = `${contestant.url}/report`;
  return async () => {
    const [accepted, blockhash] = [await firstTerms(url), await chain.blockhash()];
    const requests = presign({ payer, accepted, blockhash, count }).map(({ v2 }) => ({ url, headers: v2 }));
    return measured(contestant, async () => (await sendAll(requests, AT_ONCE)).length);
  };
}

async function filled(folder: string, size: number): Promise<SellerChoice> {
  const path = join(folder, `${size}.db`);
  const database = await openSqlite(path);
  await fillPayments(database, size);
  await database.close();
  return { kind: 'ours', databaseUrl: `sqlite:${path}` };
}
