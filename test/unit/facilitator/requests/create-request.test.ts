import { TollhouseError } from '../../../../src/errors/errors.js';
import { checkPayer, newPaymentRequest } from '../../../../src/facilitator/requests/create-request.js';
import type { NewPaymentRequest } from '../../../../src/facilitator/requests/payment-request-types.js';
import { KNOWN_TOKENS } from '../../../../src/protocol/networks/tokens.js';
import { rejectionOf } from '../../../helpers/nodes/fake-node.js';
import { walletKey } from '../../../helpers/transactions/wallet-key.js';

const NOW = 1_700_000_000_000;
const network = 'solana-devnet';
const [USDC] = KNOWN_TOKENS[network];
const [recipient, payer, second, managed] = ['recipient', 'payer', 'second', 'managed'].map(
  (name) => walletKey(name).address,
) as [string, string, string, string];
const ASKED: NewPaymentRequest = { amount: '0.5', token: 'USDC', recipient };

function ask(change: Partial<NewPaymentRequest> = {}) {
  return newPaymentRequest(
    { ...ASKED, ...change },
    {
      network,
      findToken: async (text) => (text === 'USDC' ? USDC : undefined),
      tokenFault: async () => 'is no token that can be paid in here',
      managedKeys: new Set([managed]),
      now: () => NOW,
    },
  );
}

async function faultOf(call: Promise<unknown>) {
  const error = await rejectionOf(call);
  if (!(error instanceof TollhouseError)) throw new Error(`no fault but ${String(error)}`);
  return [error.code, error.message, error.context];
}

/** Metadata of so many bytes as JSON. */
const metadataOf = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) });
const shares = (...list: [string, number][]) => list.map(([it, bps]) => ({ recipient: it, bps }));

test.each<[Partial<NewPaymentRequest>, string, string, string]>([
  [{ recipient: 'nobody' }, 'invalid_recipient', 'recipient', 'must be a Solana wallet address (base58)'],
  [{ memo: '' }, 'invalid_request', 'memo', 'must have 1 to 256 bytes of UTF-8'],
  [{ memo: `${'é'.repeat(128)}x` }, 'invalid_request', 'memo', 'must have 1 to 256 bytes of UTF-8'],
  [{ metadata: metadataOf(2_049) }, 'invalid_request', 'metadata', 'must have at most 2048 bytes as JSON'],
  [{ expiresInSeconds: 29 }, 'invalid_request', 'expires_in', 'must be a whole number of seconds from 30 to 900'],
  [{ expiresInSeconds: 901 }, 'invalid_request', 'expires_in', 'must be a whole number of seconds from 30 to 900'],
  [{ expiresInSeconds: 30.5 }, 'invalid_request', 'expires_in', 'must be a whole number of seconds from 30 to 900'],
  [{ token: 'NONE' }, 'invalid_token', 'token', '"NONE" is no token that can be paid in here'],
  [{ token: 'X'.repeat(65) }, 'invalid_token', 'token', `"${'X'.repeat(64)}" is no token that can be paid in here`],
  [{ amount: 0 }, 'invalid_amount', 'amount', 'must be more than zero'],
  [{ amount: '9007199254.740992' }, 'invalid_amount', 'amount', 'is too large'],
  [{ split: [] }, 'invalid_split', 'split', 'must name 1 to 8 recipients'],
  [{ split: shares([second, 10_000]) }, 'invalid_split', 'split', 'must name the recipient among its recipients'],
  [
    { amount: '0.000001', split: shares([recipient, 5_000], [second, 5_000]) },
    'invalid_split',
    'split',
    'leaves a recipient with nothing of so small an amount',
  ],
  [{ payer: 'nobody' }, 'invalid_payer', 'payer', 'must be a Solana wallet address (base58)'],
  [{ payer: managed }, 'invalid_payer', 'payer', 'is a key of this facilitator, which pays for nothing but fees'],
  [{ payer: recipient }, 'invalid_payer', 'payer', 'is a recipient of this payment, and cannot pay itself'],
])('%j is refused, by its name and with what it must be', async (change, code, param, what) => {
  expect(await faultOf(ask(change))).toEqual([code, `${param} ${what}`, { param }]);
});

test('an amount that cannot be read says why', async () => {
  const [code, message, context] = await faultOf(ask({ amount: '1,5' }));
  expect([code, context]).toEqual(['invalid_amount', { param: 'amount' }]);
  expect(message).toMatch(/^amount ..+/);
});

test('a payer that is no recipient of any leg passes', () => {
  const legs = [{ recipient, amount: 1n }];
  expect(() => checkPayer(payer, legs, { managedKeys: new Set([managed]) })).not.toThrow();
  expect(() => checkPayer(recipient, legs, { managedKeys: new Set() })).toThrow('cannot pay itself');
});

test('a bare request is one leg that is good for two minutes, under names of its own', async () => {
  const [one, other] = [await ask(), await ask()];
  expect(one).toStrictEqual({
    id: expect.stringMatching(/^pay_[1-9A-HJ-NP-Za-km-z]+$/),
    network,
    token: USDC,
    amount: 500_000n,
    payTo: recipient,
    legs: [{ recipient, amount: 500_000n }],
    reference: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/),
    createdAt: NOW,
    expiresAt: NOW + 120_000,
  });
  expect(one.id).not.toBe(other.id);
  expect(one.reference).not.toBe(other.reference);
});

test('everything that is asked for is kept, up to each bound', async () => {
  const memo = 'é'.repeat(128);
  const metadata = metadataOf(2_048);
  const seller = { projectId: 'prj_1', owner: second, keyId: 'key_1' };
  const split = shares([recipient, 5_000], [second, 5_000]);
  const asked = { amount: '9007199254.740991', payer, memo, metadata, seller, split };
  const kept = { amount: 9_007_199_254_740_991n, payer, memo, metadata, ...seller };
  expect(await ask({ ...asked, expiresInSeconds: 30 })).toMatchObject({ ...kept, expiresAt: NOW + 30_000 });
  expect(await ask({ ...asked, expiresInSeconds: 900 })).toMatchObject({
    ...kept,
    expiresAt: NOW + 900_000,
    legs: [
      { recipient, amount: 4_503_599_627_370_496n },
      { recipient: second, amount: 4_503_599_627_370_495n },
    ],
  });
  expect(await ask({ amount: 0.000001 })).toMatchObject({ amount: 1n });
});
