import * as spl from '@solana/spl-token';
import { PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js';
import fc from 'fast-check';
import { PROGRAMS } from '../../src/solana/transaction/programs.js';
import {
  handOver,
  madeInside,
  transferChecked,
  transferCheckedWithFee,
} from '../helpers/transactions/raw-instructions.js';
import { WEALTH, type World } from './landed-world.js';

/** Something that a transaction does. The numbers choose among the world's wallets, mints and accounts. */
export interface Deed {
  readonly kind: keyof typeof DEEDS;
  readonly one: number;
  readonly other: number;
  readonly third: number;
  readonly amount: number;
  /** Whether another program makes it. */
  readonly inside: boolean;
}

/** Whose accounts are, while a transaction is written down: what it does itself counts. */
export interface Owners {
  readonly owners: Map<string, string>;
  readonly mints: Map<string, string>;
  readonly delegates: Map<string, string>;
  /** Accounts that were handed over. */
  readonly handed: Set<string>;
}

type Build = (deed: Deed, world: World, state: Owners) => readonly TransactionInstruction[];

const key = (address: string): PublicKey => new PublicKey(address);
const pick = <T>(list: readonly T[], at: number): T => list[at % list.length] as T;

/** Who may spend from an account; somebody who may not where it is not open. */
function ownerOf(account: string, { wallets }: World, { owners }: Owners): string {
  return owners.get(account) ?? pick(wallets, 0);
}

function mintOf(account: string, world: World, { mints }: Owners) {
  return world.mints.find(({ mint }) => mint === mints.get(account)) ?? pick(world.mints, 0);
}

/** Mostly an account of the mint: others cannot receive it. */
function peerOf(account: string, choice: number, world: World, state: Owners): string {
  const wanted = mintOf(account, world, state).mint;
  const peers = world.accounts.filter((it) => state.mints.get(it) === wanted);
  return choice % 10 === 0 || peers.length === 0 ? pick(world.accounts, choice) : pick(peers, choice);
}

const open = (at: number, { owners }: Owners): string => pick([...owners.keys()], at);

function transferOf(from: string, to: string, authority: string, deed: Deed, world: World, state: Owners) {
  const { mint, program, decimals } = mintOf(from, world, state);
  const amount = BigInt(deed.amount);
  const parts = { source: from, destination: to, mint, authority, amount, decimals, program };
  const isMultisig = authority === world.wallets.at(-1);
  const signers = isMultisig ? [key(pick(world.wallets, 0))] : [];
  if (deed.third % 3 === 0 || isMultisig) {
    return spl.createTransferInstruction(key(from), key(to), key(authority), amount, signers, key(program));
  }
  const keepsFee = program === PROGRAMS.token2022 && deed.third % 3 === 1;
  const basisPoints = mint === world.mints[3]?.mint ? 500n : 0n;
  const fee = (amount * basisPoints + 9_999n) / 10_000n;
  return keepsFee ? transferCheckedWithFee(parts, fee) : transferChecked(parts);
}

function transfer(deed: Deed, world: World, state: Owners): TransactionInstruction[] {
  const from = open(deed.one, state);
  const byDelegate = deed.third % 2 === 0 ? state.delegates.get(from) : undefined;
  const authority = byDelegate ?? ownerOf(from, world, state);
  return [transferOf(from, peerOf(from, deed.other, world, state), authority, deed, world, state)];
}

function roundTrip(deed: Deed, world: World, state: Owners): TransactionInstruction[] {
  const from = open(deed.one, state);
  const to = peerOf(from, deed.other, world, state);
  const [there, back] = [ownerOf(from, world, state), ownerOf(to, world, state)];
  const less = { ...deed, amount: Math.floor(deed.amount / ((deed.third % 2) + 1)) };
  return [transferOf(from, to, there, deed, world, state), transferOf(to, from, back, less, world, state)];
}

function give({ one, other }: Deed, world: World, state: Owners): TransactionInstruction[] {
  const account = open(one, state);
  const [by, owner] = [ownerOf(account, world, state), pick(world.wallets, other)];
  state.owners.set(account, owner);
  state.delegates.delete(account);
  state.handed.add(account);
  return [handOver(account, owner, { by, program: mintOf(account, world, state).program })];
}

function close({ one, other, third }: Deed, world: World, state: Owners): TransactionInstruction[] {
  const account = open(one, state);
  const by = key(ownerOf(account, world, state));
  const { program } = mintOf(account, world, state);
  const to = key(third % 4 === 0 ? pick(world.accounts, other) : pick(world.wallets, other));
  state.owners.delete(account);
  state.mints.delete(account);
  return [spl.createCloseAccountInstruction(key(account), to, by, [], key(program))];
}

/** Empties an account into another one first: others than those of wrapped SOL must be. */
function emptyAndClose(deed: Deed, world: World, state: Owners): TransactionInstruction[] {
  const from = open(deed.one, state);
  const to = peerOf(from, deed.other, world, state);
  const emptied = transferOf(from, to, ownerOf(from, world, state), { ...deed, amount: Number(WEALTH) }, world, state);
  return [emptied, ...close(deed, world, state)];
}

function openSlot({ one, other, third, amount }: Deed, world: World, state: Owners): TransactionInstruction[] {
  const slot = pick(world.slots, one);
  const [payer, owner] = [pick(world.wallets.slice(0, -1), third), pick(world.wallets, other)];
  const { mint, program, size } = pick(world.mints, third + amount);
  const lamports = Number(world.chain.runtime.rentExempt(size)) + (amount % 3) * amount;
  const [fromPubkey, newAccountPubkey, programId] = [key(payer), key(slot), key(program)];
  state.owners.set(slot, owner);
  state.mints.set(slot, mint);
  return [
    SystemProgram.createAccount({ fromPubkey, newAccountPubkey, lamports, space: size, programId }),
    spl.createInitializeAccount3Instruction(key(slot), key(mint), key(owner), programId),
  ];
}

/** A slot is emptied, closed and opened again, for another owner perhaps, or another mint. */
function reopen(deed: Deed, world: World, state: Owners): TransactionInstruction[] {
  const filled = world.slots.filter((it) => state.owners.has(it));
  const slot = pick(filled, deed.one);
  if (slot === undefined) return openSlot(deed, world, state);
  const { program } = mintOf(slot, world, state);
  const [by, to] = [ownerOf(slot, world, state), peerOf(slot, deed.other, world, state)];
  const emptied = spl.createTransferInstruction(key(slot), key(to), key(by), WEALTH, [], key(program));
  const closed = close({ ...deed, one: [...state.owners.keys()].indexOf(slot), third: 1 }, world, state);
  return [emptied, ...closed, ...openSlot({ ...deed, one: world.slots.indexOf(slot) }, world, state)];
}

function openAssociated({ one, other, third }: Deed, world: World, state: Owners): TransactionInstruction[] {
  const [payer, owner] = [pick(world.wallets.slice(0, -1), one), pick(world.wallets, other)];
  const { mint, program } = pick(world.mints, third);
  const account = spl.getAssociatedTokenAddressSync(key(mint), key(owner), true, key(program));
  const known = state.owners.get(account.toBase58());
  state.owners.set(account.toBase58(), known ?? owner);
  state.mints.set(account.toBase58(), mint);
  const parts = [key(payer), account, key(owner), key(mint), key(program)] as const;
  return [spl.createAssociatedTokenAccountIdempotentInstruction(...parts)];
}

function sendSol({ one, other, third, amount }: Deed, world: World): TransactionInstruction[] {
  const to = third % 3 === 0 ? pick(world.accounts, other) : pick(world.wallets, other);
  const lamports = amount * (third % 2 === 0 ? 1 : 100);
  const fromPubkey = key(pick(world.wallets.slice(0, -1), one));
  return [SystemProgram.transfer({ fromPubkey, toPubkey: key(to), lamports })];
}

function wrappedAccount(choice: number, world: World, state: Owners): string {
  const wrapped = [...state.mints].filter(([, mint]) => mint === world.mints[1]?.mint);
  return pick(wrapped, choice)?.[0] ?? pick(world.accounts, choice);
}

function wrap({ one, other, amount }: Deed, world: World, state: Owners): TransactionInstruction[] {
  const account = key(wrappedAccount(other, world, state));
  const fromPubkey = key(pick(world.wallets.slice(0, -1), one));
  const pay = SystemProgram.transfer({ fromPubkey, toPubkey: account, lamports: amount });
  return [pay, spl.createSyncNativeInstruction(account)];
}

function approve({ one, other, amount }: Deed, world: World, state: Owners): TransactionInstruction[] {
  const account = open(one, state);
  const delegate = pick(world.wallets.slice(0, -1), other);
  const { program } = mintOf(account, world, state);
  const by = key(ownerOf(account, world, state));
  state.delegates.set(account, delegate);
  return [spl.createApproveInstruction(key(account), key(delegate), by, BigInt(amount) * 3n, [], key(program))];
}

function mintOrBurn({ one, third, amount }: Deed, world: World, state: Owners): TransactionInstruction[] {
  const account = open(one, state);
  const { mint, program } = mintOf(account, world, state);
  const [held, made, units, tokens] = [key(account), key(mint), BigInt(amount), key(program)];
  if (third % 2 === 0) {
    return [spl.createBurnInstruction(held, made, key(ownerOf(account, world, state)), units, [], tokens)];
  }
  return [spl.createMintToInstruction(made, held, world.chain.treasury.publicKey, units, [], tokens)];
}

const DEEDS = {
  transfer,
  roundTrip,
  give,
  close,
  emptyAndClose,
  openSlot,
  reopen,
  openAssociated,
  sendSol,
  wrap,
  approve,
  mintOrBurn,
} satisfies Record<string, Build>;

/** A deed of any kind; transfers are more frequent. */
export function aDeed(): fc.Arbitrary<Deed> {
  const kinds = Object.keys(DEEDS) as (keyof typeof DEEDS)[];
  return fc.record({
    kind: fc.constantFrom(...kinds, 'transfer', 'transfer', 'roundTrip', 'wrap'),
    one: fc.nat({ max: 59 }),
    other: fc.nat({ max: 59 }),
    third: fc.nat({ max: 11 }),
    amount: fc.nat({ max: 300_000 }),
    inside: fc.boolean(),
  });
}

/** The instructions of a deed. Those that name an account twice are not made by another program: it passes each on once. */
export function instructionsOf(deed: Deed, world: World, state: Owners): readonly TransactionInstruction[] {
  const made = DEEDS[deed.kind](deed, world, state);
  return made.map((it) => {
    const names = it.keys.map(({ pubkey }) => pubkey.toBase58());
    return deed.inside && new Set(names).size === names.length ? madeInside(it) : it;
  });
}
