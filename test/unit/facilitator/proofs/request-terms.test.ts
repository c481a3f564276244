import { judgeOf, requestTerms, requestTransfers, sellerOf } from '../../../../src/facilitator/proofs/request-terms.js';
import { landedFor, requestOf } from '../../../helpers/request-parts.js';
import { walletKey } from '../../../helpers/transactions/wallet-key.js';

const request = requestOf();
const { network, token, payTo, legs, reference } = request;
const feePayer = walletKey('payer').address;
const policy = { managedKeys: new Set([feePayer]), maxFeeLamports: 0n };
const TERMS = { scheme: 'transfer', network, asset: token.mint, amount: 5n, payTo, maxTimeoutSeconds: 60 };

test('the seller of a request is its project and the owner of that, as far as there are', () => {
  expect(sellerOf(request)).toStrictEqual({});
  expect(sellerOf({ ...request, owner: feePayer, projectId: 'p', keyId: 'k' })).toStrictEqual({
    owner: feePayer,
    projectId: 'p',
  });
});

test('the terms of a request name the memo, and the fee payer where that is a key of ours', () => {
  const { accounts } = landedFor(request);
  expect(requestTerms(request, { accounts }, policy)).toStrictEqual({ ...TERMS, feePayer });
  const strangers = { ...policy, managedKeys: new Set<string>() };
  const withMemo = { ...request, memo: 'order 7' };
  expect(requestTerms(withMemo, { accounts }, strangers)).toStrictEqual({ ...TERMS, memo: 'order 7' });
});

test('what a transaction must do, and what is said of one that does not', () => {
  expect(requestTransfers({ ...request, memo: 'm' })).toEqual({
    asset: token.mint,
    tokenProgram: token.program,
    legs,
    reference,
    memo: 'm',
  });
  expect(judgeOf(request)(landedFor(request))).toBeUndefined();
  expect(judgeOf({ ...request, memo: 'm' })(landedFor(request))).toBe('invalid_exact_svm_payload_memo_mismatch');
});
