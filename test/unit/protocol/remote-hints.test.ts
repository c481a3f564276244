import { decodeSupported } from '../../../src/protocol/wire/remote.js';
import { FEE_PAYER, PAY_TO, PAYER, WIRE_TERMS } from './samples.js';

const KIND = { x402Version: 2, scheme: 'exact', network: WIRE_TERMS.network, extra: { feePayer: FEE_PAYER } };
const READ = { scheme: 'exact', network: 'solana-devnet', feePayer: FEE_PAYER };

/** What is read of one kind whose `extra` says more. */
function kindsWith(extra: Readonly<Record<string, unknown>>) {
  const answer = decodeSupported({ kinds: [{ ...KIND, extra: { ...KIND.extra, ...extra } }] });
  if (!answer.ok) throw new Error(answer.detail);
  return answer.value.kinds;
}

test.each<[unknown, number]>([
  [0, 0],
  ['0', 0],
  [1_234, 1_234],
  ['1234', 1_234],
  [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  [String(Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER],
])('a block height of %j comes with its blockhash', (lastValidBlockHeight, height) => {
  expect(kindsWith({ recentBlockhash: PAYER, lastValidBlockHeight })).toStrictEqual([
    { ...READ, hint: { blockhash: PAYER, lastValidBlockHeight: height } },
  ]);
});

test.each<[unknown]>([
  [undefined],
  [null],
  [-1],
  ['-1'],
  [1.5],
  ['1.5'],
  ['1e3'],
  ['0x10'],
  [' 5'],
  ['5 '],
  [''],
  ['soon'],
  [[5]],
  [true],
  [Number.MAX_SAFE_INTEGER + 1],
  ['9'.repeat(16)],
  [`${'0'.repeat(16)}5`],
])('a block height of %j is none, and so there is no hint', (lastValidBlockHeight) => {
  expect(kindsWith({ recentBlockhash: PAYER, lastValidBlockHeight })).toStrictEqual([READ]);
});

test.each<[unknown]>([[undefined], [null], [5], ['x'], [[PAYER]], [{}]])(
  'a blockhash of %j is none, and so there is no hint',
  (recentBlockhash) => {
    expect(kindsWith({ recentBlockhash, lastValidBlockHeight: 5 })).toStrictEqual([READ]);
  },
);

test.each<[unknown]>([[undefined], [null], [5], ['nobody'], [[FEE_PAYER]], [{}]])(
  'with %j for a fee payer nothing can be settled there',
  (feePayer) => {
    expect(kindsWith({ feePayer })).toEqual([]);
  },
);

test('another chain cannot be settled here, whoever pays its fees', () => {
  const answer = decodeSupported({ kinds: [{ ...KIND, network: 'eip155:8453' }, KIND] });
  expect(answer).toMatchObject({ ok: true, value: { kinds: [READ] } });
});

test('keys that sign for other chains are not ours to know, even where they look like Solana’s', () => {
  const signers = { 'solana:*': [FEE_PAYER, 'nobody'], 'eip155:*': [PAY_TO], 'xsolana:*': [PAYER] };
  expect(decodeSupported({ kinds: [], signers })).toStrictEqual({
    ok: true,
    value: { kinds: [], extensions: [], signers: [FEE_PAYER] },
  });
});
