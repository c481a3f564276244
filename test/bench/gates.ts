import bs58 from 'bs58';
import { startChain } from './chain.js';
import { startContestant } from './contestant.js';
import type { BenchPart } from './figure.js';
import { cannon, cpuRatio, medianOf, race } from './race.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';

const COLLECTION = 'a collection of 100,000';
/** What a warm request may cost beyond a bare route, in microseconds, however large its collection is. */
const boundOf = (gate: string) => (gate === COLLECTION ? { atMost: 100 } : {});

type Headers = Readonly<Record<string, string>>;

/** Gates by wallet and by key with everything in their caches, beside the same route without a gate. */
export const gatesBench: BenchPart = {
  name: 'gates',
  async run({ quick, progress }) {
    const chain = await startChain(200);
    const member = await chain.wallet({ usdc: '5000' });
    const keeper = await startContestant('gate-keeper', {
      rpcUrl: chain.rpcUrl,
      keypair: bs58.encode((await chain.wallet({ sol: '1' })).secretKey),
      held: USDC,
      seed: Buffer.from(member.secretKey.subarray(0, 32)).toString('hex'),
    });
    try {
      const [token, key] = [await keeper.ask<Headers>('token'), await keeper.ask<Headers>('key')];
      const amount = quick ? 2_000 : 8_000;
      const shot = (path: string, headers: Headers) => cannon(keeper, { path, status: 200, headers }, amount);
      const runners = {
        bare: shot('/bare', {}),
        requireTokenBalance: shot('/balance', token),
        [COLLECTION]: shot('/collection', token),
        requireTier: shot('/tier', token),
        serviceKeyAuth: shot('/key', key),
      };
      const laps = await race(runners, quick ? 3 : 7, (round) => progress(`round ${round}`));
      const beyond = (gate: keyof typeof laps) => (medianOf(laps[gate], 'cpuMs') - medianOf(laps.bare, 'cpuMs')) * 1000;
      const gates = ['requireTokenBalance', COLLECTION, 'requireTier', 'serviceKeyAuth'] as const;
      return gates.flatMap((gate) => [
        {
          name: `${gate}: answers for each of a bare route`,
          value: cpuRatio(laps.bare, laps[gate]),
          unit: '×',
          atLeast: 0.85,
        },
        { name: `${gate}, processor`, value: medianOf(laps[gate], 'cpuMs') * 1000, unit: 'µs' },
        { name: `${gate}, processor beyond a bare route`, value: beyond(gate), unit: 'µs', ...boundOf(gate) },
      ]);
    } finally {
      await keeper.stop();
      await chain.process.stop();
    }
  },
};
