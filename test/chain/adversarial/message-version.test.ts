import { useArena } from '../../helpers/transactions/hostile.js';

const arena = useArena();
const reason = 'invalid_exact_svm_payload_transaction_version_unsupported';

test.each([
  ['of an ordinary size', 300],
  ['too large for a packet of the older versions', 4_096],
])('a version 1 transaction %s is refused by name', (_name, size) =>
  arena().refuses({
    reason,
    hostile: (honest) => ({ ...honest, changeBytes: () => Buffer.alloc(size, 1).fill(0x81, 0, 1) }),
  }),
);

test.each([0x81, 0x82, 0xff])('a message with version byte %i is refused by name', (prefix) =>
  arena().refuses({
    reason,
    hostile: (honest) => ({
      ...honest,
      changeMessage: (message) => Buffer.concat([Buffer.of(prefix), message.subarray(1)]),
    }),
  }),
);

test('legacy messages are good, as version 0 ones are', async () => {
  const terms = arena().terms();
  const { draft } = await arena().honest(terms);
  await arena().pays({ ...draft, version: 'legacy' }, terms);
});
