import {
  createApproveInstruction,
  createAssociatedTokenAccountIdempotentInstruction,
  createBurnInstruction,
  createCloseAccountInstruction,
  createTransferInstruction,
} from '@solana/spl-token';
import { PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js';
import fc from 'fast-check';
import type { Token } from '../../src/protocol/types.js';
import { associatedTokenAddress } from '../../src/solana/transaction/associated-token.js';
import { PROGRAMS } from '../../src/solana/transaction/programs.js';
import type { Draft } from '../helpers/transactions/draft.js';
import { multisigTransfer } from '../helpers/transactions/multisig.js';
import {
  guard,
  instruction,
  memo,
  type TransferParts,
  transferChecked,
  unitLimit,
  unitPrice,
} from '../helpers/transactions/raw-instructions.js';
import { nearlyBytes } from './fuzz.js';

/** A way to spoil a draft, or to change it without harm. */
export type Change = (draft: Draft) => Draft;

/** What changes may name. */
export interface Pool {
  /** Wallets, token accounts, mints and programs. */
  readonly addresses: readonly string[];
  /** The transfer that the terms ask for. */
  readonly transfer: TransferParts;
  readonly wallets: readonly string[];
  readonly tokens: readonly Token[];
  /** A multisig account for which the payer's signature is enough. */
  readonly multisig: string;
}

/** Up to three changes of a payment's transaction, one after the other. */
export function someChanges(pool: Pool): fc.Arbitrary<Change> {
  const list = fc.array(aChange(pool), { maxLength: 3 });
  return list.map((changes) => (draft) => changes.reduce((spoiled, change) => change(spoiled), draft));
}

function aChange(pool: Pool): fc.Arbitrary<Change> {
  const at = fc.nat();
  return fc.oneof(
    otherTransfer(pool).map(
      (transfer): Change =>
        (it) =>
          replaced(it, 2, [transferChecked(transfer)]),
    ),
    // The payer signs a memo as well, which makes a payer of a wallet that is no authority.
    fc.constant<Change>((it) =>
      replaced(replaced(it, 2, [multisigTransfer(pool.multisig, pool.transfer)]), 3, [
        memo('order 7', [{ address: pool.transfer.authority, signs: true }]),
      ]),
    ),
    fc.tuple(at, anInstruction(pool)).map(
      ([place, more]): Change =>
        (it) =>
          inserted(it, place, more),
    ),
    fc.tuple(at, anInstruction(pool)).map(
      ([place, more]): Change =>
        (it) =>
          replaced(it, place, [more]),
    ),
    at.map(
      (place): Change =>
        (it) =>
          replaced(it, place, []),
    ),
    at.map(
      (place): Change =>
        (it) =>
          inserted(it, place, it.instructions[place % it.instructions.length]),
    ),
    fc.infiniteStream(fc.nat()).map(
      (order): Change =>
        (it) =>
          shuffled(it, order),
    ),
    fc.tuple(at, at, fc.constantFrom('isSigner', 'isWritable')).map(
      ([i, k, flag]): Change =>
        (it) =>
          flipped(it, i, k, flag),
    ),
    fc.tuple(at, at, fc.constantFrom(...pool.addresses)).map(
      ([i, k, key]): Change =>
        (it) =>
          renamed(it, i, k, key),
    ),
    fc.constantFrom(...pool.addresses).map(
      (feePayer): Change =>
        (it) => ({ ...it, feePayer }),
    ),
    fc.constantFrom('legacy' as const, 0 as const).map(
      (version): Change =>
        (it) => ({ ...it, version }),
    ),
    someBytes().map(
      (spoil): Change =>
        (it) => ({ ...it, changeMessage: spoil }),
    ),
  );
}

/** A change of the message's own bytes, header included; it is signed afterwards. */
function someBytes(): fc.Arbitrary<(message: Buffer) => Uint8Array> {
  const flips = fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { minLength: 1, maxLength: 3 });
  return fc.oneof(
    flips.map((list) => (message: Buffer) => {
      const copy = Buffer.from(message);
      for (const [at, byte] of list) copy[at % copy.length] = byte;
      return copy;
    }),
    // The header: who signs, and who is written to.
    fc.tuple(fc.nat({ max: 3 }), fc.nat({ max: 9 })).map(([at, byte]) => (message: Buffer) => {
      const copy = Buffer.from(message);
      copy[at] = byte;
      return copy;
    }),
  );
}

function otherTransfer(pool: Pool): fc.Arbitrary<TransferParts> {
  return fc.oneof(slipOfTransfer(pool), transferBetween(pool));
}

/** The transfer with another value in one place or two. */
function slipOfTransfer({ addresses, transfer }: Pool): fc.Arbitrary<TransferParts> {
  const address = fc.constantFrom(...addresses);
  const slips: fc.Arbitrary<Partial<TransferParts>>[] = [
    ...(['source', 'mint', 'destination', 'authority'] as const).map((name) => address.map((it) => ({ [name]: it }))),
    anAmount(transfer.amount).map((amount) => ({ amount })),
    fc.constantFrom(0, 6, 9, 255).map((decimals) => ({ decimals })),
    fc.constantFrom<string>(PROGRAMS.token, PROGRAMS.token2022).map((program) => ({ program })),
  ];
  const some = fc.array(fc.oneof(...slips), { minLength: 1, maxLength: 2 });
  return some.map((list) => Object.assign({}, transfer, ...list));
}

/** A transfer that could take place, of any of the tokens from any wallet to any other. */
function transferBetween({ wallets, tokens, transfer }: Pool): fc.Arbitrary<TransferParts> {
  const wallet = fc.oneof(fc.constant(transfer.authority), fc.constantFrom(...wallets));
  const parties = fc.tuple(fc.constantFrom(...tokens), wallet, wallet, anAmount(transfer.amount));
  return parties.map(([{ mint, program, decimals }, authority, recipient, amount]) => ({
    source: associatedTokenAddress(authority, mint, program),
    destination: associatedTokenAddress(recipient, mint, program),
    mint,
    program,
    decimals,
    authority,
    amount,
  }));
}

function anAmount(wanted: bigint): fc.Arbitrary<bigint> {
  return fc.oneof(
    fc.constant(wanted),
    fc.constantFrom(0n, 1n, wanted - 1n, wanted + 1n, wanted + 2n ** 32n, 2n ** 64n - 1n),
    fc.bigInt({ min: 0n, max: 100_000n }),
  );
}

function anInstruction(pool: Pool): fc.Arbitrary<TransactionInstruction> {
  const { addresses, transfer } = pool;
  const key = fc.constantFrom(...addresses).map((it) => new PublicKey(it));
  const account = fc.record({ address: fc.constantFrom(...addresses), signs: fc.boolean(), written: fc.boolean() });
  const accounts = fc.array(account, { maxLength: 4 });
  const source = new PublicKey(transfer.source);
  const payer = new PublicKey(transfer.authority);
  const amount = fc.bigInt({ min: 0n, max: 20_000n });
  return fc.oneof(
    fc
      .tuple(key, key, amount)
      .map(([from, to, lamports]) => SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports })),
    fc.tuple(key, key, amount).map(([from, to, it]) => createTransferInstruction(from, to, payer, it)),
    fc.tuple(key, amount).map(([delegate, it]) => createApproveInstruction(source, delegate, payer, it)),
    fc.tuple(key, amount).map(([mint, it]) => createBurnInstruction(source, mint, payer, it)),
    key.map((heir) => createCloseAccountInstruction(source, heir, payer)),
    fc
      .tuple(key, key, key)
      .map(([funder, owner, mint]) => createAssociatedTokenAccountIdempotentInstruction(funder, source, owner, mint)),
    otherTransfer(pool).map(transferChecked),
    fc.nat({ max: 2_000_000 }).map(unitLimit),
    fc.bigInt({ min: 0n, max: 8_000_000n }).map(unitPrice),
    fc.tuple(fc.string({ maxLength: 20 }), accounts).map(([text, list]) => memo(text, list)),
    fc.tuple(fc.nat({ max: 20 }), accounts).map(([number, list]) => guard(number, list)),
    fc
      .tuple(
        fc.constantFrom(...Object.values(PROGRAMS)),
        accounts,
        nearlyBytes(fc.constant(transferChecked(transfer).data)),
      )
      .map(([program, list, data]) => instruction(program, list, data)),
  );
}

function replaced(draft: Draft, place: number, instead: readonly TransactionInstruction[]): Draft {
  const instructions = [...draft.instructions];
  if (instructions.length > 0) instructions.splice(place % instructions.length, 1, ...instead);
  return { ...draft, instructions };
}

function inserted(draft: Draft, place: number, more: TransactionInstruction | undefined): Draft {
  const instructions = [...draft.instructions];
  if (more !== undefined) instructions.splice(place % (instructions.length + 1), 0, more);
  return { ...draft, instructions };
}

function shuffled(draft: Draft, order: Iterator<number>): Draft {
  const rank = new Map(draft.instructions.map((it) => [it, Number(order.next().value)]));
  return { ...draft, instructions: [...draft.instructions].sort((a, b) => (rank.get(a) ?? 0) - (rank.get(b) ?? 0)) };
}

function flipped(draft: Draft, place: number, key: number, flag: 'isSigner' | 'isWritable'): Draft {
  return withAccount(draft, place, key, (meta) => ({ ...meta, [flag]: !meta[flag] }));
}

function renamed(draft: Draft, place: number, key: number, address: string): Draft {
  return withAccount(draft, place, key, (meta) => ({ ...meta, pubkey: new PublicKey(address) }));
}

type Meta = TransactionInstruction['keys'][number];

function withAccount(draft: Draft, place: number, key: number, change: (meta: Meta) => Meta): Draft {
  const chosen = draft.instructions[place % Math.max(draft.instructions.length, 1)];
  if (chosen === undefined || chosen.keys.length === 0) return draft;
  const keys = chosen.keys.map((meta, at) => (at === key % chosen.keys.length ? change(meta) : meta));
  const { programId, data } = chosen;
  return replaced(draft, place, [new TransactionInstruction({ programId, keys, data })]);
}
