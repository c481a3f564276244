import { Keypair } from '@solana/web3.js';
import { failedLegOf, findPayoutFate, isPastLanding } from '../../../src/facilitator/payout-fate.js';
import type { HistoryEntry } from '../../../src/solana/landed-transaction.js';
import { createSplitWallet } from '../../../src/solana/payout-transaction.js';
import { PROGRAMS } from '../../../src/solana/programs.js';
import { RpcError, type SignatureState, type SolanaNode } from '../../../src/solana/rpc.js';
import type { SignedPayout } from '../../../src/storage/payout-book.js';

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

  test('is not called missing in a history that has no end', async () => {
    const history = Array.from({ length: 100 }, (_, index) => entry(String(index), 1_500));
    expect(await fateBy(node({ history }))).toEqual(FORGOTTEN);
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
