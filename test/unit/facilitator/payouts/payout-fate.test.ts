import { Keypair } from '@solana/web3.js';
import {
  failedLegOf,
  findPayoutFate,
  isPastLanding,
  MAX_PAGES,
} from '../../../../src/facilitator/payouts/payout-fate.js';
import { createSplitWallet } from '../../../../src/solana/building/payout-transaction.js';
import type { HistoryEntry } from '../../../../src/solana/rpc/landed-transaction.js';
import { RpcError, type SignatureState, type SolanaNode } from '../../../../src/solana/rpc/rpc.js';
import { PROGRAMS } from '../../../../src/solana/transaction/programs.js';
import type { SignedPayout } from '../../../../src/storage/payouts/payout-store.js';

const newAddress = (): string => Keypair.generate().publicKey.toBase58();
const SIGNATURE = '5'.repeat(88);
const [ANNA, BERT] = [newAddress(), newAddress()];
const LEGS = [
  { recipient: ANNA, amount: 90n },
  { recipient: BERT, amount: 10n },
];
const wallet = createSplitWallet(Keypair.generate().secretKey, 'test', 'splitKeypair');
const DOWN = new RpcError('unreachable', 'down');
/** The payout was signed in slot 1,000, and dies with height 900; the chain is far behind that by now. */
const SIGNED_SLOT = 1_000;
const LAST = 900;

let signed: SignedPayout;

beforeAll(async () => {
  const plan = {
    id: 'pyo_1',
    mint: newAddress(),
    tokenProgram: PROGRAMS.token,
    decimals: 6,
    legs: LEGS,
    feePayer: newAddress(),
    blockhash: newAddress(),
  };
  const { bytes: transaction, blockhash } = await wallet.sign(plan);
  signed = { signature: SIGNATURE, transaction, blockhash, lastValidBlockHeight: LAST, signedSlot: SIGNED_SLOT };
});

interface Told {
  readonly tip?: { readonly slot: number; readonly blockHeight: number };
  readonly slot?: number;
  readonly state?: SignatureState | null;
  readonly history?: readonly HistoryEntry[];
  readonly first?: number | Error;
}

/** A node that has all of its history, and has never seen the payout. */
function node({ tip = { slot: 2_000, blockHeight: LAST + 1 }, ...told }: Told = {}): SolanaNode {
  const { slot = tip.slot, state = null, history = [], first = SIGNED_SLOT } = told;
  return {
    host: 'test',
    getTip: async () => tip,
    findSignature: async () => ({ slot, state }),
    async getHistory(address, before) {
      expect(address).toBe(wallet.address);
      const at = before === undefined ? 0 : history.findIndex((it) => it.signature === before) + 1;
      return history.slice(at, at + 2);
    },
    async getFirstAvailableSlot() {
      if (first instanceof Error) throw first;
      return first;
    },
    getGenesisHash: () => Promise.reject(DOWN),
    simulateTransaction: () => Promise.reject(DOWN),
  };
}

const down: SolanaNode = { ...node(), getTip: () => Promise.reject(DOWN) };
const entry = (signature: string, slot: number, failed = false) => ({ signature, slot, failed, blockTime: undefined });
const seen = (commitment: SignatureState['commitment'], err: unknown = null) =>
  node({ state: { slot: 7, err, commitment } });
const fateBy = (...nodes: readonly SolanaNode[]) => findPayoutFate({ nodes }, signed);

const EXPIRED = { status: 'expired' };
const UNKNOWN = { status: 'unknown', isForgotten: false };
const FORGOTTEN = { status: 'unknown', isForgotten: true };
const PAID = { status: 'paid', slot: 7 };

describe('a payout that one node has never seen', () => {
  test('is expired when that node remembers far enough and is finally past its end', async () => {
    expect(await fateBy(node())).toEqual(EXPIRED);
    expect(await fateBy(down, node())).toEqual(EXPIRED);
    expect(await fateBy(node({ first: SIGNED_SLOT + 1 }), node())).toEqual(EXPIRED);
  });

  test.each<[string, Told]>([
    ['its last block is not final yet', { tip: { slot: 2_000, blockHeight: LAST } }],
    ['who looked for it is behind who told how far the chain is', { slot: 1_999 }],
  ])('can still land while %s', async (_why, told) => {
    expect(await fateBy(node(told))).toEqual(UNKNOWN);
  });

  test('may have been forgotten by a node that remembers one slot too little, or keeps no history', async () => {
    expect(await fateBy(node({ first: SIGNED_SLOT + 1 }))).toEqual(FORGOTTEN);
    expect(await fateBy(node({ first: DOWN }))).toEqual(UNKNOWN);
    expect(await fateBy(node({ first: new RpcError('answer', 'no such method') }))).toEqual(FORGOTTEN);
    const old = { ...signed, signedSlot: undefined };
    const { signedSlot: _slot, ...unslotted } = old;
    expect(await findPayoutFate({ nodes: [node()] }, unslotted)).toEqual(FORGOTTEN);
    expect(await findPayoutFate({ nodes: [node()] }, { ...signed, transaction: Uint8Array.of(1) })).toEqual(FORGOTTEN);
  });

  test('is unknown while nobody answers, or there is nobody', async () => {
    expect([await fateBy(down), await fateBy(), await findPayoutFate({}, signed)]).toEqual([UNKNOWN, UNKNOWN, UNKNOWN]);
  });
});

describe('a payout that one node has seen', () => {
  test('is paid once confirmed, whatever the others say', async () => {
    for (const commitment of ['confirmed', 'finalized'] as const) {
      expect(await fateBy(node(), seen(commitment), down)).toEqual(PAID);
    }
    expect(await fateBy(node(), seen('processed'))).toEqual({ status: 'unknown' });
  });

  test('is failed when its error is final, and nobody else contradicts', async () => {
    const err = { InstructionError: [3, 'Custom'] };
    expect(await fateBy(seen('confirmed', err))).toEqual({ status: 'unknown' });
    expect(await fateBy(seen('finalized', err), down, node({ first: SIGNED_SLOT + 1 }))).toEqual({
      status: 'failed',
      err,
    });
    expect(await fateBy(seen('finalized', err), node())).toEqual(FORGOTTEN);
    expect(await fateBy(seen('finalized', err), seen('finalized'))).toEqual(PAID);
  });

  test('is found in the history of the wallet, read back to when it was signed and no further', async () => {
    const later = [entry('c', 1_900), entry('b', 1_800), entry('a', 1_700)];
    expect(await fateBy(node({ history: [...later, entry(SIGNATURE, 1_100)] }))).toEqual({
      status: 'paid',
      slot: 1_100,
    });
    expect(await fateBy(node({ history: [...later, entry(SIGNATURE, 1_100, true)] }))).toEqual({ status: 'unknown' });
    expect(await fateBy(node({ history: [...later, entry('old', 999), entry('older', 998)] }))).toEqual(EXPIRED);
  });
});

test('a bug is no silent node', async () => {
  const bug = new TypeError('bug');
  await expect(fateBy({ ...node(), getTip: () => Promise.reject(bug) })).rejects.toBe(bug);
});

test('it is past landing when one node says so, finally', async () => {
  const early = node({ tip: { slot: 2_000, blockHeight: LAST } });
  const past = (...nodes: readonly SolanaNode[]) => isPastLanding({ nodes }, signed);
  expect([await past(early, down), await past(early, node()), await past()]).toEqual([false, true, false]);
});

test('an error names the share whose transfer it is about', () => {
  expect([2, 3, 1, 4].map((at) => failedLegOf({ InstructionError: [at, 'Custom'] }, LEGS)?.recipient)).toEqual([
    ANNA,
    BERT,
    undefined,
    undefined,
  ]);
  for (const err of ['AccountInUse', null, { InstructionError: ['2'] }]) expect(failedLegOf(err, LEGS)).toBeUndefined();
});

describe('a payout whose wallet strangers have named in many transactions since', () => {
  /** Two to a page here. */
  const flood = (pages: number) => Array.from({ length: 2 * pages }, (_, at) => entry(`flood${at}`, 5_000 - (at >> 4)));
  const older = entry('older', SIGNED_SLOT - 1);
  const counting = (history: readonly HistoryEntry[]) => {
    const counted = node({ history });
    const count = { pages: 0 };
    const getHistory: SolanaNode['getHistory'] = (address, before) => {
      count.pages += 1;
      return counted.getHistory(address, before);
    };
    return { count, nodes: [{ ...counted, getHistory }] };
  };

  test('is looked for back to when it was signed, and each look goes on where the last one stopped', async () => {
    const { count, nodes } = counting([...flood(250), older]);
    const read = { marks: new Map() };
    const told = [];
    for (let look = 0; look < 3; look += 1) told.push(await findPayoutFate({ nodes }, signed, read));

    expect(told).toEqual([UNKNOWN, UNKNOWN, EXPIRED]);
    expect(count.pages).toBe(251);
    expect(read.marks.size).toBe(0);
  });

  test('is paid when it lies behind them', async () => {
    const { nodes } = counting([...flood(30), entry(SIGNATURE, 1_500)]);
    expect(await findPayoutFate({ nodes }, signed)).toEqual({ status: 'paid', slot: 1_500 });
  });

  test('cannot be told of more than somebody would pay for, and those are read once', async () => {
    const { count, nodes } = counting([...flood(MAX_PAGES), older]);
    const read = { marks: new Map(), pagesAtOnce: MAX_PAGES };
    expect(await findPayoutFate({ nodes }, signed, read)).toEqual(FORGOTTEN);
    expect(await findPayoutFate({ nodes }, signed, read)).toEqual(FORGOTTEN);
    expect(count.pages).toBe(MAX_PAGES);
  });

  test('is read anew where it could still land when it was read', async () => {
    const early = node({ tip: { slot: 2_000, blockHeight: LAST }, history: [...flood(150), older] });
    const read = { marks: new Map() };
    expect(await findPayoutFate({ nodes: [early] }, signed, read)).toEqual(UNKNOWN);
    expect(read.marks.size).toBe(0);
  });
});
