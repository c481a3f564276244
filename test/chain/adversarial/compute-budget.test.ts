import { withBudget, withLast } from '../../helpers/transactions/honest-draft.js';
import { useArena } from '../../helpers/transactions/hostile.js';
import { computeBudget, unitLimit, unitPrice } from '../../helpers/transactions/raw-instructions.js';

const arena = useArena();
const badLimit = 'invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction';
const badPrice = 'invalid_exact_svm_payload_transaction_instructions_compute_price_instruction';
const unknown = 'invalid_exact_svm_payload_unknown_optional_instruction';

test.each([
  ['a second limit', badLimit, unitLimit(20_000)],
  ['a second price', badPrice, unitPrice(1n)],
  ['RequestUnits', unknown, computeBudget(0, 1, 0, 0, 0, 1, 0, 0, 0)],
  ['RequestHeapFrame', unknown, computeBudget(1, 0, 0, 1, 0)],
  ['SetLoadedAccountsDataSizeLimit', unknown, computeBudget(4, 0, 0, 16, 0)],
  ['an instruction that does not exist', unknown, computeBudget(5, 0, 0, 0, 0)],
  ['an instruction without data', unknown, computeBudget()],
] as const)('%s is refused', (_name, reason, extra) =>
  arena().refuses({ reason, hostile: (honest) => withLast(honest, extra) }),
);

const [limit, price] = [[...unitLimit(20_000).data], [...unitPrice(1n).data]];

test.each([
  ['a limit that is a byte short', badLimit, limit.slice(0, -1)],
  ['a limit with a byte too many, which the runtime would overlook', badLimit, [...limit, 0]],
  ['a limit without a number', badLimit, limit.slice(0, 1)],
  ['a price that is a byte short', badPrice, price.slice(0, -1)],
  ['a price with a byte too many, which the runtime would overlook', badPrice, [...price, 0]],
  ['a price without a number', badPrice, price.slice(0, 1)],
] as const)('%s is refused', (_name, reason, data) =>
  arena().refuses({ reason, hostile: (honest) => withBudget(honest, computeBudget(...data)) }),
);
