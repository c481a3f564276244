import { withBudget } from '../../helpers/transactions/honest-draft.js';
import { useArena } from '../../helpers/transactions/hostile.js';
import { unitLimit, unitPrice } from '../../helpers/transactions/raw-instructions.js';

const arena = useArena();
const reason = 'invalid_exact_svm_payload_transaction_instructions_compute_price_instruction_too_high';

// The cap of 30,000 lamports leaves 20,000 for priority: one lamport for each of 20,000 units.
const HIGHEST = 1_000_000n;

test('the highest price under the cap is paid, one micro-lamport more is refused', () =>
  arena().refuses({
    reason,
    twin: (honest) => withBudget(honest, unitLimit(20_000), unitPrice(HIGHEST)),
    hostile: (honest) => withBudget(honest, unitLimit(20_000), unitPrice(HIGHEST + 1n)),
    wouldLand: true,
  }));

test.each([
  ['a price that is small, for a limit that is large', [unitLimit(1_400_000), unitPrice(14_286n)]],
  ['a limit beyond the largest, which counts as the largest', [unitLimit(4_294_967_295), unitPrice(14_286n)]],
  ['the price before the limit', [unitPrice(HIGHEST + 1n), unitLimit(20_000)]],
  ['the largest price there is', [unitLimit(20_000), unitPrice(2n ** 64n - 1n)]],
])('a fee over the cap is refused: %s', (_name, budget) =>
  arena().refuses({ reason, hostile: (honest) => withBudget(honest, ...budget) }),
);

// Without a limit, the runtime allows 200,000 units for the transfer and for the memo, and 3,000 for the price itself.
test('without a limit, the highest price under the cap is paid, one micro-lamport more is refused', () =>
  arena().refuses({
    reason,
    twin: (honest) => withBudget(honest, unitPrice(49_627n)),
    hostile: (honest) => withBudget(honest, unitPrice(49_628n)),
    wouldLand: true,
  }));

test('without any compute budget a payment is good', async () => {
  const terms = arena().terms();
  const { draft } = await arena().honest(terms);
  await arena().pays(withBudget(draft), terms);
});
