import { withFirst, withLast } from '../../helpers/honest-draft.js';
import { useArena } from '../../helpers/hostile.js';
import { guard, instruction } from '../../helpers/raw-instructions.js';

const arena = useArena();
const LIGHTHOUSE = 'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95';

describe.each([
  ['before', withFirst],
  ['after', withLast],
])('%s the transfer', (_place, added) => {
  test.each([
    ['MemoryWrite', guard(0)],
    ['MemoryClose', guard(1)],
    ['the first number after its assertions', guard(18)],
    ['the largest number', guard(255)],
    ['no instruction at all', instruction(LIGHTHOUSE, [], [])],
  ])('%s of Lighthouse is refused', (_name, extra) =>
    arena().refuses({
      reason: 'invalid_exact_svm_payload_unknown_optional_instruction',
      hostile: (honest) => added(honest, extra),
      wouldLand: true,
    }),
  );

  test.each([
    [2, 3, 4],
    [5, 6, 7],
    [8, 9, 10],
    [11, 12, 13],
    [14, 15, 16, 17],
  ])('assertions are good: %i, %i, %i', async (...assertions) => {
    const terms = arena().terms();
    const { draft, scene } = await arena().honest(terms);
    const guards = assertions.map((it) => guard(it, [scene.transfer.source]));
    await arena().pays(added(draft, ...guards), terms);
  });
});

test.each([
  ['Phantom, three guards', 1, 2],
  ['Solflare, two guards', 1, 1],
])('guards on both sides of the transfer are good: %s', async (_wallet, before, after) => {
  const terms = arena().terms();
  const { draft, scene } = await arena().honest(terms);
  const guards = (count: number) =>
    Array.from({ length: count }, (_, index) => guard(5 + index, [scene.transfer.source]));
  await arena().pays(withLast(withFirst(draft, ...guards(before)), ...guards(after)), terms);
});
