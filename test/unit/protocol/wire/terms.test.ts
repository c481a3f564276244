import fc from 'fast-check';
import { readPayloadV2 } from '../../../../src/protocol/codecs/x402-v2.js';
import { readKind, readTerms, readTransaction, writeExtra, writeTerms } from '../../../../src/protocol/wire/terms.js';
import {
  FEE_PAYER,
  PAYLOAD_V2,
  PAYMENT,
  someTerms,
  TERMS,
  TRANSACTION,
  TRANSACTION_BASE64,
  WIRE_TERMS,
} from '../samples.js';

const { feePayer: _, ...BARE } = TERMS;

test('terms come back as they were written, with nothing beside them, for all terms', () => {
  fc.assert(
    fc.property(someTerms, (terms) => {
      expect(readTerms(writeTerms(terms), 'accepted')).toStrictEqual({ ok: true, value: terms });
    }),
  );
});

test('what is not known is not written', () => {
  expect(writeTerms(BARE)).toStrictEqual({ ...WIRE_TERMS, extra: {} });
  expect(writeExtra({ memo: 'm' })).toStrictEqual({ memo: 'm' });
  expect(
    writeExtra({ feePayer: FEE_PAYER }, { hint: { blockhash: FEE_PAYER, lastValidBlockHeight: 0 } }),
  ).toStrictEqual({
    feePayer: FEE_PAYER,
    recentBlockhash: FEE_PAYER,
    lastValidBlockHeight: '0',
  });
});

test.each<[Record<string, unknown> | null | undefined, object]>([
  [undefined, BARE],
  [null, BARE],
  [{}, BARE],
  [{ feePayer: null, memo: null }, BARE],
  [{ memo: '' }, BARE],
  [{ feePayer: FEE_PAYER, further: 1 }, TERMS],
  [{ memo: 'x'.repeat(256) }, { ...BARE, memo: 'x'.repeat(256) }],
  [{ memo: 'é'.repeat(128) }, { ...BARE, memo: 'é'.repeat(128) }],
])('extra %j is read, what is empty or unknown in it is left out', (extra, terms) => {
  expect(readTerms({ ...WIRE_TERMS, extra }, 'accepted')).toStrictEqual({ ok: true, value: terms });
});

test.each(['0', '1', '18446744073709551615'])('the amount %s is read', (amount) => {
  expect(readTerms({ ...WIRE_TERMS, amount }, 'accepted')).toMatchObject({ value: { amount: BigInt(amount) } });
});

const AMOUNT = 'at: the amount must be a whole number of atomic units below 2^64, as decimal digits';
const MEMO = 'at.extra.memo must be a text of at most 256 bytes';
const PAYS = 'at.extra.feePayer is not a Solana address';

test.each<[object, string, string]>([
  [{ network: 'eip155:1' }, 'invalid_network', 'the network "eip155:1" is not known here'],
  [{ scheme: 'upto' }, 'invalid_exact_svm_unsupported_scheme', 'the scheme "upto" is not spoken here'],
  [{ amount: '' }, 'invalid_payload', AMOUNT],
  [{ amount: '01' }, 'invalid_payload', AMOUNT],
  [{ amount: '1x' }, 'invalid_payload', AMOUNT],
  [{ amount: '-1' }, 'invalid_payload', AMOUNT],
  [{ amount: '18446744073709551616' }, 'invalid_payload', AMOUNT],
  [{ asset: 'USDC' }, 'invalid_payload', 'at.asset is not a Solana address'],
  [{ payTo: 'me' }, 'invalid_payload', 'at.payTo is not a Solana address'],
  [{ maxTimeoutSeconds: Number.NaN }, 'invalid_payload', 'at.maxTimeoutSeconds is not a number of seconds'],
  [{ extra: { feePayer: 'me' } }, 'invalid_payload', PAYS],
  [{ extra: { feePayer: 5 } }, 'invalid_payload', PAYS],
  [{ extra: { feePayer: [FEE_PAYER] } }, 'invalid_payload', PAYS],
  [{ extra: { memo: 5 } }, 'invalid_payload', MEMO],
  [{ extra: { memo: ['m'] } }, 'invalid_payload', MEMO],
  [{ extra: { memo: 'x'.repeat(257) } }, 'invalid_payload', MEMO],
  [{ extra: { memo: `${'é'.repeat(128)}x` } }, 'invalid_payload', MEMO],
])('terms with %j are refused with a reason, and where it lies', (change, reason, detail) => {
  expect(readTerms({ ...WIRE_TERMS, ...change }, 'at')).toStrictEqual({ ok: false, reason, detail });
});

test.each([
  ['solana', 'solana'],
  ['solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', 'solana'],
  ['solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', 'solana-devnet'],
])('exact on %s is a payment on %s', (network, id) => {
  expect(readKind('exact', network)).toStrictEqual({ ok: true, value: id });
});

test('a transaction of up to 4,096 bytes is read', () => {
  expect(readTransaction({ transaction: TRANSACTION_BASE64 })).toEqual({ ok: true, value: TRANSACTION });
  expect(readTransaction({ transaction: Buffer.alloc(4_096).toString('base64') }).ok).toBe(true);
});

const UNDECODABLE = 'invalid_exact_svm_payload_transaction_could_not_be_decoded';

test.each<[object, string, string]>([
  [{}, 'invalid_payload', 'payload.transaction must be the signed transaction in base64'],
  [{ transaction: [1] }, 'invalid_payload', 'payload.transaction must be the signed transaction in base64'],
  [{ transaction: '' }, UNDECODABLE, 'payload.transaction is not base64: it is empty'],
  [
    { transaction: Buffer.alloc(4_097).toString('base64') },
    UNDECODABLE,
    'payload.transaction is longer than 4096 bytes',
  ],
])('a payload of %j holds no transaction', (payload, reason, detail) => {
  expect(readTransaction({ ...payload })).toStrictEqual({ ok: false, reason, detail });
});

test.each([undefined, null])('a payment whose extensions are %j has none', (extensions) => {
  expect(readPayloadV2({ ...PAYLOAD_V2, extensions })).toStrictEqual({ ok: true, value: PAYMENT });
});
