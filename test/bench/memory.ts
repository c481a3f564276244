import type { Contestant } from './contestant.js';
import type { BenchPart } from './figure.js';
import { firstTerms, presign } from './presigned.js';
import { cannon } from './race.js';
import { type Sellers, withSellers } from './sellers.js';
import { sendAll } from './send-all.js';

const SLOT_MS = 20;
const MEBIBYTE = 2 ** 20;
/** Each round of a cannon takes a second at least. */
const BATCH = 10_000;
const FLAT = 1.2;

interface Memory {
  /** What is alive after a collection, in bytes. */
  readonly heap: number;
  readonly rss: number;
}

/** Whether memory stays what it was, however many requests of every kind have come and gone. One in a hundred is paid. */
export const memoryBench: BenchPart = {
  name: 'memory',
  run: ({ quick, progress }) =>
    withSellers(SLOT_MS, async (sellers) => {
      const seller = await sellers.start({ kind: 'ours', mounted: true });
      const [few, many] = quick ? [10_000, 20_000] : [20_000, 200_000];
      let early: Memory | undefined;
      for (let sent = BATCH; sent <= many; sent += BATCH) {
        await sendBatch(sellers, seller);
        if (sent === few) early = await seller.ask<Memory>('memory');
        progress(`${sent} requests`);
      }
      const late = await seller.ask<Memory>('memory');
      const grown = (field: keyof Memory) => late[field] / (early?.[field] ?? Number.NaN);
      const what = `after ${many} requests to that after ${few}`;
      return [
        { name: `heap ${what}`, value: grown('heap'), unit: '×', atMost: FLAT },
        { name: `memory of the process ${what}`, value: grown('rss'), unit: '×', atMost: FLAT },
        { name: `memory of the process after ${many} requests`, value: late.rss / MEBIBYTE, unit: 'MiB' },
      ];
    }),
};

async function sendBatch({ chain, payer }: Sellers, seller: Contestant): Promise<void> {
  const url = `${seller.url}/report`;
  const [accepted, blockhash] = [await firstTerms(url), await chain.blockhash()];
  const payments = presign({ payer, accepted, blockhash, count: BATCH / 100 });
  await sendAll(
    payments.map(({ v2 }) => ({ url, headers: v2 })),
    16,
  );
  const [used] = payments;
  const share = (part: number) => (part * BATCH) / 100;
  await cannon(seller, { path: '/report', status: 402 }, share(49))(1);
  await cannon(seller, { path: '/report', status: 402, headers: used?.v2 ?? {} }, share(10))(1);
  await cannon(seller, { path: '/report', status: 400, headers: { 'payment-signature': 'x' } }, share(10))(1);
  await cannon(seller, { path: '/free', status: 200 }, share(30))(1);
}
