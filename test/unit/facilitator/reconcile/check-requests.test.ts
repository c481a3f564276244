import { checkRequests } from '../../../../src/facilitator/reconcile/check-requests.js';
import type { LandedTransaction } from '../../../../src/solana/rpc/landed-transaction.js';
import { fakeNode } from '../../../helpers/nodes/fake-node.js';
import { landedFor, requestOf, solTransfer } from '../../../helpers/request-parts.js';
import { walletKey } from '../../../helpers/transactions/wallet-key.js';

const request = requestOf();
const PAYING = landedFor(request);
const [transfer] = PAYING.instructions as readonly [LandedTransaction['instructions'][0]];

function bringing(lamports: number, to = request.payTo): LandedTransaction {
  const { payTo, reference } = request;
  const [payer = ''] = PAYING.accounts;
  return landedFor(request, {
    accounts: [payer, to, payTo, reference],
    instructions: [{ ...transfer, accounts: [payer, to, reference], data: solTransfer(lamports) }],
    lamports: new Map([[to, { before: 0n, after: BigInt(lamports) }]]),
  });
}

/**
 * What is told of a request whose reference some transactions name, the oldest first.
 * @param signature - of the payment that it has in the books. Default: none
 */
async function told(chain: Record<string, LandedTransaction>, signature?: string) {
  const found: unknown[] = [];
  const rpc = fakeNode({
    getHistory: async () =>
      Object.keys(chain)
        .map((signature) => ({ signature, slot: 7, failed: false, blockTime: undefined }))
        .reverse(),
    getTransaction: async (signature: string) => chain[signature] ?? null,
  });
  const requests = {
    async *unpaid() {
      if (signature === undefined) yield [request];
    },
    async *paid() {
      if (signature !== undefined) yield [{ request, signature }];
    },
  };
  await checkRequests(
    { rpc, requests, network: request.network, from: 0 },
    {
      differs: ({ ids, detail }) => found.push(['differs', ...ids, detail]),
      notes: ({ ids, detail }) => found.push(['notes', ...ids, detail]),
    },
  );
  return found;
}

const paid = (signature: string) => ['notes', request.id, signature, expect.stringContaining('a wallet has paid it')];
const short = (signature: string, lamports: number) => [
  'notes',
  request.id,
  signature,
  `${lamports} of ${request.token.mint} to ${request.payTo} came with its reference, and does not pay it: ` +
    'invalid_transfer_leg_missing',
];

test.each<[string, Record<string, LandedTransaction>, readonly unknown[]]>([
  ['nothing', {}, []],
  ['the price', { one: bringing(5) }, [paid('one')]],
  ['more than the price', { one: bringing(6) }, [paid('one')]],
  ['two parts', { one: bringing(2), two: bringing(3) }, [short('one', 2), short('two', 3)]],
  ['a part, and the price', { one: bringing(2), two: bringing(5) }, [short('one', 2), paid('two')]],
  ['the price, to somebody else', { one: bringing(5, walletKey('another').address) }, []],
])('of a request that is not paid in the books, and for which came %s', async (_what, chain, expected) => {
  expect(await told(chain)).toEqual(expected);
});

const beside = (signature: string, lamports: number) => [
  'notes',
  request.id,
  signature,
  `${lamports} of ${request.token.mint} to ${request.payTo} came with its reference beside its payment one`,
];

test.each<[string, Record<string, LandedTransaction>, readonly unknown[]]>([
  ['nothing beside its payment', { one: bringing(5) }, []],
  ['a second payment', { one: bringing(5), two: bringing(5) }, [beside('two', 5)]],
  ['a part before its payment', { two: bringing(2), one: bringing(5) }, [beside('two', 2)]],
  ['something for somebody else', { one: bringing(5), two: bringing(5, walletKey('another').address) }, []],
])('of a request that is paid in the books, and for which came %s', async (_what, chain, expected) => {
  expect(await told(chain, 'one')).toEqual(expected);
});
