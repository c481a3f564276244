import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import type { InspectedPayment } from '../../../../src/facilitator/backend/backend.js';
import { createRemoteChain, type GivenPayment } from '../../../../src/facilitator/remote/remote-chain.js';
import type { HistoryEntry, LandedTransaction } from '../../../../src/solana/rpc/landed-transaction.js';
import { RpcError } from '../../../../src/solana/rpc/rpc.js';
import { landedAs } from '../../../helpers/fixtures/payment-service-fixture.js';
import { aPeer, backendOf, inspected, remotesOf, useRemotes } from '../../../helpers/fixtures/remotes.js';
import { fakeNode } from '../../../helpers/nodes/fake-node.js';

useRemotes();

const CLAIMED_AT = 1_700_000_000_000;
const TEN_MINUTES = 600_000;
const OUTAGE = new RpcError('timeout', 'no answer');
const HEIGHT = 1_000;
/** 150 blocks of life, 128 that the asked node may have been behind. */
const LAST = HEIGHT + 278;

let payment: InspectedPayment;
beforeEach(async () => {
  const peer = await aPeer();
  payment = await inspected(backendOf(await remotesOf([peer, 'well'])), peer);
});

/** What the chain holds; a test changes it. */
function openChain() {
  const landed = new Map<string, LandedTransaction | RpcError>();
  const chain = { height: HEIGHT, pages: [[]] as HistoryEntry[][], landed };
  const asked: string[] = [];
  const remote = createRemoteChain(
    fakeNode({
      getTip: async () => ({ slot: 1, blockHeight: chain.height }),
      async getHistory(address, before) {
        asked.push(`history of ${address === payment.transfer?.source ? 'the source' : address} before ${before}`);
        const page = before === undefined ? 0 : chain.pages.findIndex((it) => it.at(-1)?.signature === before) + 1;
        return chain.pages[page] ?? [];
      },
      async getTransaction(signature) {
        asked.push(signature);
        const found = landed.get(signature);
        if (found instanceof RpcError) throw found;
        return found ?? null;
      },
    }),
  );
  return {
    ...chain,
    chain,
    asked,
    lookUp: (given: Partial<GivenPayment> = {}) => remote.lookUp(payment, { claimedAt: CLAIMED_AT, ...given }),
  };
}

const entry = (signature: string, blockTime: number | undefined = CLAIMED_AT): HistoryEntry => ({
  signature,
  slot: 9,
  failed: false,
  blockTime,
});
const ours = (changed: Partial<LandedTransaction> = {}) => landedAs(payment.transaction, changed);
const foreign = () => ours({ messageHash: Keypair.generate().publicKey.toBase58() });

test('finds a payment by its message, in the history of the account that pays', async () => {
  const { chain, asked, lookUp } = openChain();
  chain.pages = [[entry('b'), entry('a')]];
  chain.landed.set('b', foreign()).set('a', ours({ slot: 7 }));
  expect(await lookUp()).toEqual({ status: 'landed', signature: 'a', slot: 7, err: null });
  expect(asked).toEqual(['history of the source before undefined', 'b', 'a', 'a']);
});

test('tells how a payment failed', async () => {
  const { chain, lookUp } = openChain();
  chain.pages = [[entry('a')]];
  chain.landed.set('a', ours({ err: 'x', slot: 8 }));
  expect(await lookUp()).toEqual({ status: 'landed', signature: 'a', slot: 8, err: 'x' });
});

test('reads a foreign transaction once', async () => {
  const { chain, asked, lookUp } = openChain();
  chain.pages = [[entry('b')]];
  chain.landed.set('b', foreign());
  await lookUp();
  await lookUp();
  expect(asked.filter((it) => it === 'b')).toHaveLength(1);
});

test('believes the name that the facilitator tells only of the same message', async () => {
  const { chain, asked, lookUp } = openChain();
  chain.landed
    .set('told', ours({ slot: 3 }))
    .set('lie', foreign())
    .set('a', ours({ slot: 7 }));
  chain.pages = [[entry('a')]];
  expect(await lookUp({ signature: 'told' })).toMatchObject({ signature: 'told', slot: 3 });
  expect(asked).toEqual(['told', 'told']);
  expect(await lookUp({ signature: 'lie' })).toMatchObject({ signature: 'a', slot: 7 });
});

test('looks through several pages, and back to ten minutes before it was claimed', async () => {
  const { chain, asked, lookUp } = openChain();
  const page = (name: string) => Array.from({ length: 1_000 }, (_, index) => entry(`${name}${index}`));
  chain.pages = [page('x'), [entry('edge', CLAIMED_AT - TEN_MINUTES), entry('old', CLAIMED_AT - TEN_MINUTES - 1)]];
  for (const { signature } of chain.pages.flat()) chain.landed.set(signature, foreign());
  const tries: string[] = [];
  for (let look = 0; look < 6; look += 1) tries.push((await lookUp()).status);
  expect(tries).toEqual(['unknown', 'unknown', 'unknown', 'unknown', 'unknown', 'absent']);
  expect(asked).toContain('history of the source before x999');
  expect(asked).toContain('edge');
  expect(asked).not.toContain('old');
  chain.landed.set('old', ours());
  expect((await lookUp()).status).toBe('absent');
});

test.each([
  ['a transaction that cannot be read', [entry('b')], OUTAGE],
  ['a transaction that the node does not tell yet', [entry('b')], undefined],
])('%s leaves it open, however old the blockhash', async (_name, page, found) => {
  const { chain, lookUp } = openChain();
  chain.pages = [page];
  if (found !== undefined) chain.landed.set('b', found);
  chain.height = 10_000;
  expect(await lookUp({ lastValidBlockHeight: LAST })).toEqual({ status: 'unknown' });
  chain.landed.set('b', foreign());
  expect(await lookUp({ lastValidBlockHeight: LAST })).toEqual({ status: 'expired' });
});

test('a transaction of another version is none of ours', async () => {
  const { chain, lookUp } = openChain();
  chain.pages = [[entry('b'), entry('a')]];
  chain.landed.set('b', new RpcError('answer', 'version', { code: -32_015 })).set('a', ours());
  expect(await lookUp()).toMatchObject({ status: 'landed', signature: 'a' });
});

test('what is not there may land until its blockhash is dead for every node, however far behind', async () => {
  const { chain, lookUp } = openChain();
  expect(await lookUp()).toEqual({ status: 'absent', lastValidBlockHeight: LAST });
  chain.height = LAST + 128;
  expect(await lookUp({ lastValidBlockHeight: LAST })).toEqual({ status: 'absent', lastValidBlockHeight: LAST });
  chain.height = LAST + 129;
  expect(await lookUp({ lastValidBlockHeight: LAST })).toEqual({ status: 'expired' });
  chain.pages = [[entry('a')]];
  chain.landed.set('a', ours());
  expect(await lookUp({ lastValidBlockHeight: LAST })).toMatchObject({ status: 'landed' });
});

test('a mistake of ours is none of the chain', async () => {
  const getTip = async () => {
    throw new TypeError('broken');
  };
  await expect(createRemoteChain(fakeNode({ getTip })).lookUp(payment, { claimedAt: 0 })).rejects.toThrow('broken');
});

describe('a settlement elsewhere with a chain to ask', () => {
  const lost = { '/verify': { body: { isValid: true } }, '/settle': 'break' } as const;

  async function scene(word: Awaited<ReturnType<ReturnType<typeof openChain>['lookUp']>>) {
    const peer = await aPeer();
    peer.replies = { ...peer.replies, ...lost };
    const given: GivenPayment[] = [];
    const chain = {
      async lookUp(_inspected: InspectedPayment, it: GivenPayment) {
        given.push(it);
        return word;
      },
      landedBefore: async () => ({ status: 'never' }) as const,
      close: async () => {},
    };
    const backend = backendOf(await remotesOf([peer, 'well']), 1_000, { chain });
    const payment = await inspected(backend, peer);
    const { messageHash: id, blockhash } = payment.transaction;
    const { payer, terms } = payment;
    const record = { id, state: 'broadcast', binding: 'x', payer, terms, blockhash, claimedAt: 5 } as const;
    return { peer, backend, payment, record, given };
  }

  const noted: unknown[] = [];
  const step = {
    commitment: 'confirmed',
    recordBroadcast: async (broadcast: unknown) => noted.push(broadcast) > 0,
    notSent: async () => true,
  } as const;
  beforeEach(() => void noted.splice(0));

  test('that landed with an error is a failure for good', async () => {
    const { backend, payment, record } = await scene({ status: 'landed', signature: 's', slot: 4, err: { x: 1 } });
    expect(await backend.resume(payment, record, step)).toMatchObject({
      status: 'failed',
      final: 'failed',
      reason: 'invalid_exact_svm_transaction_failed',
      message: expect.stringContaining('{"x":1}'),
      signature: 's',
    });
  });

  test('that is not there yet is pending, and how long it may land is noted once', async () => {
    const { backend, payment, record } = await scene({ status: 'absent', lastValidBlockHeight: 7 });
    const { payer } = payment;
    expect(await backend.settle(payment, step)).toEqual({ status: 'pending', payer });
    expect(await backend.resume(payment, { ...record, lastValidBlockHeight: 7 }, step)).toEqual({
      status: 'pending',
      payer,
    });
    expect(noted).toEqual([{}, { lastValidBlockHeight: 7 }]);
  });

  test('is pending while the chain cannot be asked, whatever the facilitator refuses and however long', async () => {
    const { peer, backend, payment, record, given } = await scene({ status: 'unknown' });
    peer.replies = { ...peer.replies, '/settle': { body: { success: false, errorReason: 'duplicate_settlement' } } };
    expect(await backend.resume(payment, record, step)).toEqual({ status: 'pending', payer: payment.payer });
    expect(given).toEqual([record]);
  });

  test('is what the facilitator says where it knows', async () => {
    const { peer, backend, payment, record, given } = await scene({ status: 'unknown' });
    const transaction = bs58.encode(new Uint8Array(64).fill(7));
    peer.replies = { ...peer.replies, '/settle': { body: { success: true, transaction } } };
    expect((await backend.resume(payment, record, step)).status).toBe('settled');
    expect(given).toEqual([]);
  });
});
