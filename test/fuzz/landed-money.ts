import assert from 'node:assert/strict';
import { ComputeBudgetProgram, PublicKey, TransactionMessage, VersionedTransaction } from '@solana/web3.js';
import fc from 'fast-check';
import { transactionJson } from '../../src/sandbox/encoding/transaction-json.js';
import { toJson } from '../../src/sandbox/rpc/json.js';
import { parseWireTransaction } from '../../src/sandbox/runtime/wire-transaction.js';
import { moneyMoved } from '../../src/solana/landed/landed-money.js';
import { readLandedPayment } from '../../src/solana/landed/landed-payment.js';
import { type LandedTransaction, readLandedTransaction } from '../../src/solana/rpc/landed-transaction.js';
import { tokenMoveOf } from '../../src/solana/rules/required-transfers.js';
import { readInstruction } from '../../src/solana/transaction/instructions.js';
import { isOnCurve } from '../../src/solana/transaction/on-curve.js';
import { NATIVE_SOL } from '../../src/solana/transaction/programs.js';
import { memo } from '../helpers/transactions/raw-instructions.js';
import type { Fuzz } from './fuzz.js';
import { aDeed, type Deed, instructionsOf, type Owners } from './landed-deeds.js';
import { type Held, holdings, openWorld, type World } from './landed-world.js';

/** What the transactions of a run were. */
export interface LandedFigures {
  tried: number;
  /** They landed and did what they say. */
  executed: number;
  /** Accounts changed hands in so many of them, and so many had inner instructions. */
  handedOver: number;
  inner: number;
  /** Payments that were recognised. */
  payments: number;
}

/** The reading of landed transactions against the runtime's own balances. */
export interface LandedFuzz extends Fuzz {
  readonly figures: Readonly<LandedFigures>;
}

interface Case {
  readonly deeds: readonly Deed[];
  readonly payer: number;
  readonly withTable: boolean;
}

const MAX_BYTES = 1232;
const UNITS = 1_400_000;

/** Opens a world in which wallets do at random what can be done with money. */
export async function openLandedFuzz(): Promise<LandedFuzz> {
  const world = await openWorld();
  const figures: LandedFigures = { tried: 0, executed: 0, handedOver: 0, inner: 0, payments: 0 };
  const aCase = fc.record({
    deeds: fc.array(aDeed(), { minLength: 1, maxLength: 6 }),
    payer: fc.nat({ max: 3 }),
    withTable: fc.boolean(),
  });
  const run = (numRuns: number) => {
    fc.assert(
      fc.property(aCase, (it) => tryCase(world, it, figures)),
      { numRuns },
    );
  };
  return { name: 'money that landed transactions moved', run, figures };
}

function tryCase(world: World, given: Case, figures: LandedFigures): void {
  world.restore();
  const before = holdings(world);
  const state: Owners = { owners: new Map(), mints: new Map(), delegates: new Map(), handed: new Set() };
  for (const [address, { token }] of before) {
    if (token === undefined) continue;
    state.owners.set(address, token.owner);
    state.mints.set(address, token.mint);
  }
  figures.tried += 1;
  const bytes = bytesOf(world, given, state, figures.tried);
  const done = bytes && world.chain.bank.land(parseWireTransaction(bytes));
  if (!done) return;
  const config = { encoding: 'base64', maxSupportedTransactionVersion: 0 };
  const landed = readLandedTransaction(JSON.parse(toJson(transactionJson(world.chain, done, config))));
  assert.ok(landed !== null);
  const after = holdings(world);
  if (landed.err === null) {
    figures.executed += 1;
    figures.handedOver += Number(state.handed.size > 0);
    figures.inner += Number(done.execution.innerInstructions.some(({ length }) => length > 0));
  }
  const handed = landed.err === null ? state.handed : new Set<string>();
  assert.deepEqual(read(landed), expected(world, before, after, handed, landed));
  figures.payments += checkPayments(world, landed, before, after);
}

function bytesOf(world: World, { deeds, payer, withTable }: Case, state: Owners, mark: number): Uint8Array | undefined {
  const instructions = deeds.flatMap((it) => instructionsOf(it, world, state));
  const units = ComputeBudgetProgram.setComputeUnitLimit({ units: UNITS });
  const message = new TransactionMessage({
    payerKey: new PublicKey(world.wallets[payer] ?? ''),
    recentBlockhash: world.chain.blockhashes.at(world.chain.slots.height()),
    instructions: [units, ...instructions, memo(String(mark))],
  }).compileToV0Message(withTable ? [world.lookupTable] : []);
  const transaction = new VersionedTransaction(message);
  // The chain knows transactions by their first signature; nobody checks it here.
  transaction.signatures[0] = Buffer.alloc(64, String(mark));
  try {
    const bytes = transaction.serialize();
    return bytes.length > MAX_BYTES ? undefined : bytes;
  } catch {
    return undefined;
  }
}

type Sums = ReadonlyMap<string, bigint>;

function read(landed: LandedTransaction): Sums {
  return sorted(moneyMoved(landed).map(({ asset, wallet, gained }) => [`${asset} ${wallet}`, gained]));
}

/** What the runtime says, account by account, without accounts that were handed over: who had them lost what is gone. */
function expected(
  world: World,
  before: ReadonlyMap<string, Held>,
  after: ReadonlyMap<string, Held>,
  handed: ReadonlySet<string>,
  { accounts, feeLamports }: LandedTransaction,
): Sums {
  const sums = new Map<string, bigint>();
  const add = (asset: string, wallet: string, amount: bigint) => {
    sums.set(`${asset} ${wallet}`, (sums.get(`${asset} ${wallet}`) ?? 0n) + amount);
  };
  for (const [address, was] of before) {
    const is = after.get(address);
    assert.ok(is !== undefined);
    add(NATIVE_SOL, address, (is.token ? 0n : is.lamports) - (was.token ? 0n : was.lamports));
    const isSame = was.token?.owner === is.token?.owner && was.token?.mint === is.token?.mint;
    const proves = !handed.has(address) && (isSame || !was.token || !is.token || was.token.mint !== is.token.mint);
    if (was.token && proves) add(was.token.mint, was.token.owner, -was.token.amount);
    if (is.token && proves) add(is.token.mint, is.token.owner, is.token.amount);
    if (!proves && was.token) {
      const left = isSame && is.token ? is.token.amount : 0n;
      add(was.token.mint, was.token.owner, left < was.token.amount ? left - was.token.amount : 0n);
    }
  }
  add(NATIVE_SOL, accounts[0] ?? '', feeLamports);
  const entries = [...sums].filter(([, amount]) => amount !== 0n);
  assert.ok(entries.every(([name]) => world.wallets.includes(name.split(' ')[1] ?? '') || name.startsWith(NATIVE_SOL)));
  return sorted(entries);
}

function sorted(entries: readonly (readonly [string, bigint])[]): Sums {
  return new Map([...entries].sort(([a], [b]) => a.localeCompare(b)));
}

/** Every transfer as a payment: one that is recognised left its amount with the recipient, and who paid has signed. */
function checkPayments(
  world: World,
  landed: LandedTransaction,
  before: ReadonlyMap<string, Held>,
  after: ReadonlyMap<string, Held>,
): number {
  let recognised = 0;
  for (const plain of landed.instructions.map(readInstruction)) {
    const move = tokenMoveOf(plain);
    const held = move && (after.get(move.destination)?.token ?? before.get(move.destination)?.token);
    const token = world.mints.find(({ mint }) => mint === held?.mint);
    if (move === undefined || held === undefined || token === undefined) continue;
    const legs = [{ recipient: held.owner, amount: move.amount }];
    const demand = { asset: token.mint, tokenProgram: token.program, legs, reference: undefined, memo: undefined };
    const paid = readLandedPayment(landed, demand);
    if (!paid.ok) continue;
    recognised += 1;
    const sums = (at: ReadonlyMap<string, Held>) => sumOf(at, held.owner, token.mint);
    assert.ok(sums(after) - sums(before) >= move.amount, 'the recipient holds it');
    const isSigner = landed.accounts.slice(0, signersOf(landed)).includes(paid.payer);
    assert.ok(isSigner || !isOnCurve(paid.payer) || paid.payer === world.wallets.at(-1), 'the payer signed');
  }
  return recognised;
}

function sumOf(at: ReadonlyMap<string, Held>, owner: string, mint: string): bigint {
  return [...at.values()].reduce((sum, { token }) => {
    return token?.owner === owner && token.mint === mint ? sum + token.amount : sum;
  }, 0n);
}

/** Each signature costs the same, and nothing else was paid for. */
function signersOf({ feeLamports }: LandedTransaction): number {
  return Number(feeLamports / 5_000n);
}
