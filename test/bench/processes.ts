import { cpus } from 'node:os';
import { startPostgres } from '../helpers/storage/postgres.js';
import type { Contestant } from './contestant.js';
import { type BenchPart, type Figure, quantile } from './figure.js';
import { firstTerms, presign } from './presigned.js';
import { type Sellers, withSellers } from './sellers.js';
import { sendAll } from './send-all.js';

const SLOT_MS = 50;
const AT_ONCE = 64;
const PROCESSES = [1, 2, 4];
const PLOT = 'paid requests a second, several processes on one Postgres';

/** What one round of some processes came to. */
interface Round {
  readonly perSecond: number;
  /** Share of all processors of the machine that was at work: servers, database, chain and payers together. */
  readonly machineInUse: number;
}

/** Whether more processes on one database serve more, until the machine is full. */
export const processesBench: BenchPart = {
  name: 'processes',
  async run({ quick, progress }) {
    const postgres = await startPostgres();
    try {
      return await withSellers(SLOT_MS, async (sellers) => {
        const databaseUrl = await postgres.newDatabase();
        const started: Contestant[] = [];
        for (let count = 0; count < Math.max(...PROCESSES); count += 1) {
          started.push(await sellers.start({ kind: 'ours', databaseUrl }));
        }
        const rounds = new Map(PROCESSES.map((count) => [count, [] as Round[]]));
        for (let round = 0; round <= (quick ? 1 : 5); round += 1) {
          if (round > 0) progress(`round ${round}`);
          for (const count of round % 2 === 0 ? PROCESSES : PROCESSES.toReversed()) {
            const done = await payAtAll(sellers, started.slice(0, count), quick ? 128 : 512);
            if (round > 0) rounds.get(count)?.push(done);
          }
        }
        return PROCESSES.flatMap((count) => figuresOf(count, rounds.get(count) ?? [], rounds.get(1) ?? []));
      });
    } finally {
      await postgres.stop();
    }
  },
};

function figuresOf(count: number, rounds: readonly Round[], alone: readonly Round[]): readonly Figure[] {
  const median = (field: keyof Round, of = rounds) =>
    quantile(
      of.map((it) => it[field]),
      0.5,
    );
  const who = count === 1 ? '1 process' : `${count} processes`;
  const speed = { name: `${who}: paid requests`, value: median('perSecond'), unit: '/s', plot: PLOT };
  const use = { name: `${who}: the machine in use`, value: 100 * median('machineInUse'), unit: '%' };
  const ratio = median('perSecond') / median('perSecond', alone);
  return count === 1
    ? [speed, use]
    : [{ name: `${who}: requests a second to one`, value: ratio, unit: '×' }, speed, use];
}

/** Pays for all requests before the clock starts; each process gets its share. */
async function payAtAll({ chain, payer }: Sellers, servers: readonly Contestant[], count: number): Promise<Round> {
  const blockhash = await chain.blockhash();
  const shares = await Promise.all(
    servers.map(async ({ url }) => {
      const accepted = await firstTerms(`${url}/report`);
      const payments = presign({ payer, accepted, blockhash, count: Math.ceil(count / servers.length) });
      return payments.map(({ v2 }) => ({ url: `${url}/report`, headers: v2 }));
    }),
  );
  const [before, begin] = [machineTime(), performance.now()];
  const sent = await Promise.all(shares.map((share) => sendAll(share, AT_ONCE / servers.length)));
  const [after, elapsed] = [machineTime(), performance.now() - begin];
  return {
    perSecond: (sent.flat().length / elapsed) * 1000,
    machineInUse: (after.busy - before.busy) / (after.all - before.all),
  };
}

/** Time of all processors so far. */
function machineTime(): { readonly busy: number; readonly all: number } {
  const times = cpus().map((it) => it.times);
  const all = times.flatMap((it) => Object.values(it)).reduce((sum, it) => sum + it, 0);
  return { busy: all - times.reduce((sum, { idle }) => sum + idle, 0), all };
}
