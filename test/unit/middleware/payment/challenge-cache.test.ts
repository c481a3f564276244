import {
  type ChallengeInputs,
  type WrittenChallenge,
  writtenChallenge,
} from '../../../../src/middleware/terms/challenge-cache.js';
import { TERMS } from '../../../contracts/ledger-samples.js';

const HINT = { blockhash: 'EkSnNWid2cvwEVnVx9aBqawnmiCNiDgp3gUdkDPTKN1N', lastValidBlockHeight: 7 };

let addresses = 0;

const OWNER = {};

/** Inputs for an address that no other test has asked for. */
function newInputs(length = 0): ChallengeInputs {
  addresses += 1;
  const url = `https://shop.example/${addresses}/${'x'.repeat(length)}`;
  return { owner: OWNER, url, options: {}, terms: [TERMS], hints: { [TERMS.network]: HINT }, cause: {} };
}

/** Asks for an offer; answers whether it was written for this. */
function isWritten(inputs: ChallengeInputs): boolean {
  const fresh: WrittenChallenge = {
    challenge: { resource: { url: inputs.url }, terms: inputs.terms },
    headers: [],
    head: '',
    tail: '',
    isAscii: true,
  };
  return writtenChallenge(inputs, () => fresh) === fresh;
}

test('an offer is written once for an address', () => {
  const inputs = newInputs();
  expect([isWritten(inputs), isWritten({ ...inputs }), isWritten(inputs)]).toEqual([true, false, false]);
});

test.each<[string, Partial<ChallengeInputs>]>([
  ['another gate', { options: {} }],
  ['other terms, even if they say the same', { terms: [TERMS] }],
  ['another blockhash', { hints: { [TERMS.network]: { ...HINT } } }],
  ['no blockhash', { hints: {} }],
  ['another cause', { cause: {} }],
])('it is written anew for %s', (_what, change) => {
  const inputs = newInputs();
  isWritten(inputs);
  expect([isWritten({ ...inputs, ...change }), isWritten(inputs)]).toEqual([true, true]);
});

test('one for a long address, which the client chooses, is not kept', () => {
  const inputs = newInputs(500);
  expect([isWritten(inputs), isWritten(inputs)]).toEqual([true, true]);
});
