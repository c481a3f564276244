import fc from 'fast-check';
import { findTerms, termsFingerprint } from '../../../src/protocol/match-terms.js';
import type { Payment, Terms } from '../../../src/protocol/types.js';
import { PAYER, PAYMENT, someTerms, TERMS } from './samples.js';

const OTHERS: readonly (readonly [string, Partial<Terms>])[] = [
  ['scheme', { scheme: 'upto' }],
  ['network', { network: 'solana' }],
  ['asset', { asset: PAYER }],
  ['amount', { amount: 10_001n }],
  ['payTo', { payTo: PAYER }],
  ['feePayer', { feePayer: PAYER }],
  ['memo', { memo: 'another' }],
];

const OFFERED: Terms = { ...TERMS, memo: 'order 7' };

function accepting(accepted: Terms): Payment {
  return { ...PAYMENT, scheme: accepted.scheme, network: accepted.network, accepted };
}

describe('findTerms', () => {
  test('finds the entry that was accepted among several', () => {
    const dearer = { ...OFFERED, amount: 20_000n };
    expect(findTerms(accepting(dearer), [OFFERED, dearer])).toEqual([dearer]);
  });

  test.each([...OTHERS, ['maxTimeoutSeconds', { maxTimeoutSeconds: 61 }] as const])(
    'accepted terms with another %s match nothing',
    (_, change) => {
      expect(findTerms(accepting({ ...OFFERED, ...change }), [OFFERED])).toEqual([]);
    },
  );

  test.each(['feePayer', 'memo'] as const)('accepted terms without the offered %s match nothing', (name) => {
    const { [name]: _, ...accepted } = OFFERED;
    expect(findTerms(accepting(accepted), [OFFERED])).toEqual([]);
  });

  test('accepted terms may carry more than was offered', () => {
    const { feePayer: _, ...offered } = TERMS;
    expect(findTerms(accepting({ ...TERMS, memo: 'mine' }), [offered])).toEqual([offered]);
  });

  test('a payment that names no terms may be meant for every entry of its scheme and network', () => {
    const { accepted: _, ...payment } = PAYMENT;
    const dearer = { ...TERMS, amount: 20_000n };
    expect(findTerms(payment, [TERMS, { ...TERMS, network: 'solana' }, { ...TERMS, scheme: 'upto' }, dearer])).toEqual([
      TERMS,
      dearer,
    ]);
  });

  test('accepted terms always match their own offer', () => {
    fc.assert(
      fc.property(someTerms, (terms) => {
        expect(findTerms(accepting({ ...terms }), [terms])).toEqual([terms]);
      }),
    );
  });
});

describe('termsFingerprint', () => {
  test.each(OTHERS)('differs when the %s differs', (_, change) => {
    expect(termsFingerprint({ ...OFFERED, ...change })).not.toBe(termsFingerprint(OFFERED));
  });

  test('differs between no memo and a memo that says null', () => {
    expect(termsFingerprint({ ...TERMS, memo: 'null' })).not.toBe(termsFingerprint(TERMS));
  });

  test('does not depend on the order of the fields, nor on the time-out', () => {
    const reversed = { ...TERMS, ...Object.fromEntries(Object.entries(TERMS).reverse()), maxTimeoutSeconds: 5 };
    expect(termsFingerprint(reversed)).toBe(termsFingerprint(TERMS));
  });
});
