import { useArena } from '../../helpers/transactions/hostile.js';

const arena = useArena();

const LENGTHS: readonly [string, (transaction: Buffer) => Uint8Array][] = [
  ['with a byte after its end', (it) => Buffer.concat([it, Buffer.of(0)])],
  ['with another transaction after its end', (it) => Buffer.concat([it, it])],
  ['filled up beyond a packet', (it) => Buffer.concat([it, Buffer.alloc(1_233 - it.length)])],
  ['without its last byte', (it) => it.subarray(0, -1)],
  ['that ends after its signatures', (it) => it.subarray(0, 129)],
  ['that ends inside its signatures', (it) => it.subarray(0, 100)],
  ['of one byte', (it) => it.subarray(0, 1)],
];

describe.each(['legacy', 0] as const)('version %s', (version) => {
  test.each(LENGTHS)('a transaction %s is refused', (_name, changeBytes) =>
    arena().refuses({
      reason: 'invalid_exact_svm_payload_transaction_could_not_be_decoded',
      twin: (honest) => ({ ...honest, version }),
      hostile: (honest) => ({ ...honest, changeBytes }),
    }),
  );
});
