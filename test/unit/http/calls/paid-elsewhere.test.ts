import { TollhouseError } from '../../../../src/errors/errors.js';
import { createPaidElsewhere } from '../../../../src/http/calls/paid-elsewhere.js';

type Found = 'confirmed' | 'not_found' | 'outage';

function networks(found: Found) {
  const asked: string[] = [];
  const side = (network: 'solana' | 'solana-devnet') => ({
    network,
    async lookUp(signature: string) {
      asked.push(`${network} ${signature}`);
      if (found === 'outage') throw new TollhouseError('chain_unavailable', 'away');
      return { status: found, received: [], transfers: [] };
    },
  });
  return { asked, all: [side('solana'), side('solana-devnet')] };
}

test('a signature that another network knows is refused for its network, and that network is asked once', async () => {
  const { asked, all } = networks('confirmed');
  const paidElsewhere = createPaidElsewhere(all);
  for (const _time of [1, 2]) {
    expect(await paidElsewhere('solana', 'one')).toEqual({
      reason: 'invalid_exact_svm_network_mismatch',
      message: expect.stringContaining('made on solana-devnet, and this is paid on solana.'),
    });
  }
  expect(asked).toEqual(['solana-devnet one']);
});

test.each(['not_found', 'outage'] as const)(
  'a wait for a payment costs the other network one look: %s',
  async (found) => {
    const { asked, all } = networks(found);
    const paidElsewhere = createPaidElsewhere(all);
    for (const _time of [1, 2, 3]) expect(await paidElsewhere('solana-devnet', 'two')).toBeUndefined();
    expect(asked).toEqual(['solana two']);
  },
);

test('invented signatures are looked up a few at once only', async () => {
  const { asked, all } = networks('not_found');
  const paidElsewhere = createPaidElsewhere(all);
  await Promise.all(Array.from({ length: 40 }, (_, n) => paidElsewhere('solana', `invented-${n}`)));
  expect(asked.length).toBeLessThan(10);
});

test('a network that does not answer is not waited for, and what it says later is told to who asks again', async () => {
  let answer: (found: 'confirmed') => void = () => undefined;
  const late = new Promise<'confirmed'>((resolve) => {
    answer = resolve;
  });
  const side = (network: 'solana' | 'solana-devnet') => ({
    network,
    lookUp: async () => ({ status: await late, received: [], transfers: [] }),
  });
  const paidElsewhere = createPaidElsewhere([side('solana'), side('solana-devnet')]);
  expect(await paidElsewhere('solana', 'three')).toBeUndefined();
  answer('confirmed');
  await new Promise(setImmediate);
  expect(await paidElsewhere('solana', 'three')).toMatchObject({ reason: 'invalid_exact_svm_network_mismatch' });
});

test('a service of one network looks nowhere', async () => {
  const { asked, all } = networks('confirmed');
  const [only] = all;
  expect(await createPaidElsewhere([only!])('solana', 'one')).toBeUndefined();
  expect(asked).toEqual([]);
});
