import { Keypair } from '@solana/web3.js';
import { guardProof, guardsOnFeePayer } from '../../../../src/solana/rules/guards.js';
import { PROGRAMS } from '../../../../src/solana/transaction/programs.js';
import { decodeTransaction } from '../../../../src/solana/transaction/transaction.js';
import { buildDraft } from '../../../helpers/transactions/draft.js';
import { guard, instruction, memo } from '../../../helpers/transactions/raw-instructions.js';

const [feePayer, payer] = [Keypair.generate(), Keypair.generate()];
const [ours, theirs] = [feePayer, payer].map(({ publicKey }) => publicKey.toBase58()) as [string, string];

function found(version: 'legacy' | 0, instructions: Parameters<typeof buildDraft>[0]['instructions']) {
  const draft = { version, feePayer: ours, blockhash: theirs, instructions, signers: [feePayer, payer] };
  const result = decodeTransaction(buildDraft(draft));
  if (!result.ok) throw new Error(result.detail);
  return guardsOnFeePayer(result.transaction);
}

describe.each(['legacy', 0] as const)('in a %s transaction', (version) => {
  test('the guards that name the fee payer are found by their positions', () => {
    const others = [memo('x', [ours]), guard(16, [ours]), instruction(PROGRAMS.system, [ours], [2])];
    expect(found(version, [guard(2, [theirs]), guard(2, [ours]), ...others, guard(10, [theirs, ours])])).toEqual([
      1, 5,
    ]);
  });

  test('guards on others need no proof', () => {
    expect(found(version, [guard(2, [theirs]), guard(3)])).toEqual([]);
  });
});

test('a transaction without accounts has no guards', () => {
  const result = decodeTransaction(
    buildDraft({
      version: 0,
      feePayer: ours,
      blockhash: theirs,
      instructions: [guard(2, [ours])],
      signers: [feePayer],
    }),
  );
  if (!result.ok) throw new Error(result.detail);
  expect(guardsOnFeePayer({ ...result.transaction, accounts: [] })).toEqual([]);
});

test.each([
  ['no guard has to be proven', [], undefined, 'calls-nobody'],
  ['the node lists no calls at all', [1], undefined, 'not-said'],
  ['nothing called anything', [1, 4], [], 'calls-nobody'],
  ['only others called', [1, 4], [0, 2, 3, 5], 'calls-nobody'],
  ['the first guard called', [1, 4], [1], 'calls'],
  ['the last guard called, beside others', [1, 4], [0, 4], 'calls'],
] as const)('when %s', (_when, guards, innerInstructions, proof) => {
  expect(guardProof(guards, innerInstructions === undefined ? {} : { innerInstructions })).toBe(proof);
});
