import { type Keypair, SystemProgram, type TransactionInstruction } from '@solana/web3.js';
import { guardProgram } from '../../../src/sandbox/programs/guard-program.js';
import { PROGRAMS } from '../../../src/solana/transaction/programs.js';
import { buildDraft, type Draft } from '../../helpers/transactions/draft.js';
import { withFirst, withLast } from '../../helpers/transactions/honest-draft.js';
import { type Scene, useArena } from '../../helpers/transactions/hostile.js';
import { guard, instruction } from '../../helpers/transactions/raw-instructions.js';
import { isSettledByReference } from '../../helpers/transactions/reference-verdict.js';
import { upgradeProgram } from '../../helpers/transactions/upgrade-program.js';
import { phantom, solflare } from '../../helpers/transactions/wallet-layouts.js';
import { send } from '../sandbox-client.js';

const arena = useArena();
const UNKNOWN = 'invalid_exact_svm_payload_unknown_optional_instruction';
const SYSVARS = [
  'SysvarC1ock11111111111111111111111111111111',
  'SysvarS1otHashes111111111111111111111111111',
  'Sysvar1nstructions1111111111111111111111111',
  'SysvarS1otHistory11111111111111111111111111',
  'SysvarRecentB1ockHashes11111111111111111111',
];
const STOLEN = 1_000_000;

/** A guard that fails above a slot. */
function clockGuard(slot: number) {
  const data = Buffer.alloc(9, 15);
  data.writeBigUInt64LE(BigInt(slot), 1);
  return instruction(PROGRAMS.lighthouse, [], data);
}

/** A guard that names the fee payer and, where it calls a program, moves its lamports to the payer. */
function thievingGuard(first: number, { payer }: Scene, { feePayer }: Draft) {
  const { data } = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: payer.publicKey, lamports: STOLEN });
  const thief = { address: payer.publicKey.toBase58(), written: true };
  const accounts = [PROGRAMS.system, { address: feePayer, signs: true, written: true }, thief];
  return instruction(PROGRAMS.lighthouse, accounts, [first, ...data]);
}

/** What the fee payer would lose by a transaction, had it signed and sent it. */
async function lossIfSigned(draft: Draft, feePayer: Keypair): Promise<bigint> {
  const { sandbox } = arena().fixture;
  const before = sandbox.balance(draft.feePayer);
  const signed = buildDraft({ ...draft, signers: [...draft.signers, feePayer] });
  const { error } = await send(sandbox, Buffer.from(signed).toString('base64'), { skipPreflight: true });
  expect(error).toBeUndefined();
  return before - sandbox.balance(draft.feePayer);
}

describe.each([
  ['before', withFirst],
  ['after', withLast],
])('%s the transfer', (_place, added) => {
  test.each<[string, TransactionInstruction]>([
    ['MemoryWrite', guard(0)],
    ['MemoryClose', guard(1)],
    ...[11, 12, 13, 14, 15, 16, 17].map((it): [string, TransactionInstruction] => [`assertion ${it}`, guard(it)]),
    ['the first number after its assertions', guard(18)],
    ['the largest number', guard(255)],
    ['no instruction at all', instruction(PROGRAMS.lighthouse, [], [])],
  ])('%s of Lighthouse is refused', (_name, extra) =>
    arena().refuses({ reason: UNKNOWN, hostile: (honest) => added(honest, extra) }),
  );

  test.each(SYSVARS)('an assertion that names %s is refused', (sysvar) =>
    arena().refuses({
      reason: UNKNOWN,
      twin: (honest, { payer }) => added(honest, guard(2, [payer.publicKey.toBase58()])),
      hostile: (honest, { payer }) => added(honest, guard(2, [payer.publicKey.toBase58(), sysvar])),
      wouldLand: true,
    }),
  );

  test.each([
    [2, 3, 4],
    [5, 6, 7],
    [8, 9, 10],
  ])('assertions on accounts are good: %i, %i, %i', async (...assertions) => {
    const terms = arena().terms();
    const { draft, scene } = await arena().honest(terms);
    const guards = assertions.map((it) => guard(it, [scene.transfer.source, terms.feePayer!]));
    await arena().pays(added(draft, ...guards), terms);
  });
});

test.each([
  ['Phantom', phantom],
  ['Solflare', solflare],
])('%s guards on both sides of the transfer, the fee payer too', async (_wallet, layout) => {
  const terms = arena().terms({ memo: 'order 7' });
  const { draft, scene } = await arena().honest(terms);
  await arena().pays(layout(draft, scene.transfer), terms);
});

test('an assertion on the clock, which passes now and fails later at our cost, is refused', async () => {
  const { fixture } = arena();
  const drafts: Draft[] = [];
  await arena().refuses({
    reason: UNKNOWN,
    hostile(honest) {
      drafts.push(withLast(honest, clockGuard(fixture.sandbox.slot() + 500)));
      return drafts[0]!;
    },
    wouldLand: true,
  });
  if (isSettledByReference(buildDraft(drafts[0]!))) return;
  fixture.sandbox.advanceSlots(502);
  expect(await lossIfSigned(drafts[0]!, fixture.feePayer)).toBe(10_001n);
});

test('a call of another program is refused without asking the chain, whomever it names', () =>
  arena().refuses({
    reason: UNKNOWN,
    hostile: (honest, scene) => withLast(honest, thievingGuard(16, scene, honest)),
    wouldLand: true,
  }));

describe('when Lighthouse is exchanged for a program that takes what it can', () => {
  let takeBack = (): void => undefined;
  beforeAll(() => {
    takeBack = upgradeProgram(arena().fixture.sandbox, PROGRAMS.lighthouse, guardProgram({ callingByte: 5 }));
  });
  afterAll(() => takeBack());

  test('a guard that moves lamports of the fee payer is refused', () =>
    arena().refuses({
      reason: 'invalid_exact_svm_payload_transaction_fee_payer_transferring_funds',
      twin: (honest, scene) => withLast(honest, thievingGuard(6, scene, honest)),
      hostile: (twin, scene) => ({
        ...twin,
        instructions: [...twin.instructions.slice(0, -1), thievingGuard(5, scene, twin)],
      }),
      refusedBy: 'chain',
      wouldLand: true,
    }));

  test('it would have cost the fee payer what it moves, had it signed', async () => {
    const { draft, scene } = await arena().honest(arena().terms());
    const hostile = withLast(draft, thievingGuard(5, scene, draft));
    expect(await lossIfSigned(hostile, arena().fixture.feePayer)).toBe(10_001n + BigInt(STOLEN));
  });
});
