import bs58 from 'bs58';
import { startChain } from './chain.js';
import { type Contestant, startContestant } from './contestant.js';
import type { Fault } from './contestants/verifier.js';
import type { BenchContext, BenchPart, Figure } from './figure.js';
import { measured, medianOf, type Runner, race } from './race.js';

const FAULTS: readonly Fault[] = ['malformed', 'wrongly signed', 'mismatched'];

/** What it costs to refuse a bad payment, which costs no call to the chain, and to verify a good one beside its call. */
export const verifyBench: BenchPart = {
  name: 'verify',
  async run(context) {
    const chain = await startChain();
    const wallet = async (funds: { readonly [token: string]: string }) =>
      bs58.encode((await chain.wallet(funds)).secretKey);
    const verifier = await startContestant('verifier', {
      rpcUrl: chain.rpcUrl,
      wsUrl: chain.wsUrl,
      keypair: await wallet({ sol: '10' }),
      payer: await wallet({ usdc: '1000000' }),
      payTo: (await chain.wallet({ usdc: '0' })).publicKey.toBase58(),
      blockhash: await chain.blockhash(),
    });
    try {
      const figures = [...(await good(context, verifier))];
      // A fresh blockhash is kept at hand by the clock, whether anybody pays or not.
      const caused = async () => (await chain.calls()) - (await chain.calls('getLatestBlockhash'));
      const before = await caused();
      figures.push(...(await bad(context, verifier)));
      const calls = (await caused()) - before;
      return [...figures, { name: 'RPC calls for all that was refused', value: calls, unit: 'calls', atMost: 0 }];
    } finally {
      await verifier.stop();
      await chain.process.stop();
    }
  },
};

async function good({ quick, progress }: BenchContext, verifier: Contestant): Promise<readonly Figure[]> {
  const count = quick ? 60 : 300;
  const laps = await race(
    {
      simulate: async () => lap(verifier, count, () => verifier.ask('simulate')),
      verify: async () => {
        await verifier.ask('prepare', count);
        return lap(verifier, count, () => verifier.ask('verify'));
      },
    },
    quick ? 3 : 7,
    (round) => progress(`good payments, round ${round}`),
  );
  const beside = medianOf(laps.verify, 'cpuMs') - medianOf(laps.simulate, 'cpuMs');
  return [
    { name: 'a good payment, processor beside its call', value: beside, unit: 'ms', atMost: 0.5 },
    { name: 'the call by itself, processor', value: medianOf(laps.simulate, 'cpuMs'), unit: 'ms' },
  ];
}

async function bad({ quick, progress }: BenchContext, verifier: Contestant): Promise<readonly Figure[]> {
  const count = quick ? 1_000 : 10_000;
  await verifier.ask('prepare', 100);
  const refused = (fault: Fault) => () => lap(verifier, count, () => verifier.ask('refuse', [fault, count]));
  const runners: Record<Fault | 'signature', Runner> = {
    signature: () => lap(verifier, count, () => verifier.ask('checkSignatures', count)),
    malformed: refused('malformed'),
    'wrongly signed': refused('wrongly signed'),
    mismatched: refused('mismatched'),
  };
  const laps = await race(runners, quick ? 3 : 7, (round) => progress(`bad payments, round ${round}`));
  const perSecond = (name: Fault | 'signature') => 1000 / medianOf(laps[name], 'cpuMs');
  return [
    ...FAULTS.map((fault) => ({
      name: `${fault}, refused with one second of processor`,
      value: perSecond(fault),
      unit: '/s',
      atLeast: 8_000,
    })),
    { name: "Node's check of a wrong signature by itself", value: perSecond('signature'), unit: '/s' },
  ];
}

function lap(verifier: Contestant, count: number, work: () => Promise<unknown>) {
  return measured(verifier, async () => {
    await work();
    return count;
  });
}
