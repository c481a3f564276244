import { createLandedReader } from '../../../../src/facilitator/backend/landed-reader.js';
import type { LandedTransaction } from '../../../../src/solana/rpc/landed-transaction.js';
import { RpcError } from '../../../../src/solana/rpc/rpc.js';

const LANDED: LandedTransaction = {
  slot: 7,
  blockTime: undefined,
  messageHash: '',
  blockhash: '',
  err: null,
  requiredSignatures: 1,
  feeLamports: 5_000n,
  computeUnits: 150,
  accounts: [],
  instructions: [],
  signedInstructions: [],
  lamports: new Map(),
  tokenAccounts: new Map(),
};

/** A node that gives these responses one after the other, the last one for ever. */
function nodeWith(...answers: (LandedTransaction | null | Error)[]) {
  let calls = 0;
  return {
    calls: () => calls,
    async getTransaction() {
      const answer = answers[Math.min(calls, answers.length - 1)] ?? null;
      calls += 1;
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
}

test('a node that cannot tell of the transaction yet is asked again', async () => {
  const node = nodeWith(null, null, LANDED);
  expect(await createLandedReader(node)('signature')).toBe(LANDED);
  expect(node.calls()).toBe(3);
});

test('what was read once is not asked for again', async () => {
  const node = nodeWith(LANDED);
  const read = createLandedReader(node);
  expect([await read('signature'), await read('signature')]).toEqual([LANDED, LANDED]);
  expect(node.calls()).toBe(1);
});

test('in an outage nothing is known, and it is not remembered', async () => {
  const node = nodeWith(new RpcError('unreachable', 'gone'), LANDED);
  const read = createLandedReader(node);
  expect(await read('signature')).toBeUndefined();
  expect(await read('signature')).toBe(LANDED);
});

test('a node that never can tell is given up on', async () => {
  const node = nodeWith(null);
  expect(await createLandedReader(node)('signature')).toBeUndefined();
  expect(node.calls()).toBe(5);
});

test('a bug is not an outage', async () => {
  await expect(createLandedReader(nodeWith(new TypeError('bug')))('signature')).rejects.toThrow('bug');
});
