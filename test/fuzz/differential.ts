import assert from 'node:assert/strict';
import { Keypair } from '@solana/web3.js';
import fc from 'fast-check';
import { KNOWN_TOKENS } from '../../src/protocol/networks/tokens.js';
import type { Terms, Token } from '../../src/protocol/types.js';
import { createChain } from '../../src/sandbox/chain/chain.js';
import { createRuntime, type Runtime } from '../../src/sandbox/runtime/runtime.js';
import { resolveSandboxOptions } from '../../src/sandbox/sandbox-options.js';
import { createFaucet } from '../../src/sandbox/tokens/faucet.js';
import { tokenAccountOf } from '../../src/solana/accounts/token-accounts.js';
import { CHECKS, subjectOf } from '../../src/solana/rules/checks.js';
import { firstReason } from '../../src/solana/rules/rules.js';
import { associatedTokenAddress } from '../../src/solana/transaction/associated-token.js';
import { readInstruction } from '../../src/solana/transaction/instructions.js';
import { networkFee } from '../../src/solana/transaction/network-fee.js';
import { PROGRAMS } from '../../src/solana/transaction/programs.js';
import { decodeTransaction } from '../../src/solana/transaction/transaction.js';
import { buildDraft } from '../helpers/transactions/draft.js';
import { honestDraft, honestTransfer } from '../helpers/transactions/honest-draft.js';
import { multisigOf } from '../helpers/transactions/multisig.js';
import { type Fuzz, fuzz } from './fuzz.js';
import { type Change, someChanges } from './spoiled-payments.js';

/** How the spoiled payments of a run ended. */
export interface Figures {
  tried: number;
  /** Our rules had nothing against them. */
  accepted: number;
  /** Of those, so many moved the money, and so many the chain refused. */
  executed: number;
}

/** The rules against the runtime: whatever they accept does what they promise. */
export interface Differential extends Fuzz {
  readonly figures: Readonly<Figures>;
}

const MAX_FEE = 100_000n;
const WEALTH = 1_000_000n;
const LAMPORTS = 5_000_000_000n;
const [feePayer, secondKey, payer, seller, stranger] = [0, 1, 2, 3, 4].map(() => Keypair.generate()) as [
  Keypair,
  Keypair,
  Keypair,
  Keypair,
  Keypair,
];
const WALLETS = [feePayer, secondKey, payer, seller, stranger].map(addressOfKey);
const OURS = [feePayer, secondKey].map(addressOfKey);
const POLICY = { managedKeys: new Set(OURS), maxFeeLamports: MAX_FEE };
const TOKENS = KNOWN_TOKENS['solana-devnet'].filter(({ symbol }) => symbol === 'USDC' || symbol === 'PYUSD');
const BLOCKHASH = addressOfKey(Keypair.generate());
/** Wallets of several, for which the payer's signature is enough: one under each token program. */
const MULTISIGS = new Map(TOKENS.map(({ program }) => [program, addressOfKey(Keypair.generate())]));
const OWNERS = [...WALLETS, ...MULTISIGS.values()];

interface Case {
  readonly token: Token;
  readonly terms: Terms;
  readonly change: Change;
  /** Who signs; the others have not agreed to anything. */
  readonly signers: readonly Keypair[];
}

/**
 * Puts wallets, tokens and programs into a runtime of their own.
 *
 * @param checks the rules to hold to it; default: all of them
 */
export async function openDifferential(checks = CHECKS): Promise<Differential> {
  const runtime = await createRuntime();
  const faucet = createFaucet(createChain(runtime, resolveSandboxOptions({ slotMs: 0 })));
  for (const wallet of WALLETS) faucet.airdrop(wallet, LAMPORTS);
  for (const token of TOKENS) {
    faucet.placeMint(token);
    for (const wallet of OWNERS) faucet.fundToken(wallet, token.mint, WEALTH);
  }
  for (const [program, address] of MULTISIGS) runtime.setAccount(address, multisigOf(payer.publicKey, program));
  const accounts = [...OWNERS, ...TOKENS.flatMap(({ mint }) => [mint, ...tokenAccounts()])];
  const start = new Map(accounts.map((it) => [it, runtime.account(it)]));
  const figures: Figures = { tried: 0, accepted: 0, executed: 0 };

  function restore(): void {
    for (const [address, state] of start) if (state !== null) runtime.setAccount(address, state);
  }

  const rule = fuzz('what our rules accept', aCase(), (given) => {
    restore();
    figures.tried += 1;
    const outcome = tryPayment(runtime, checks, given);
    if (outcome === undefined) return;
    figures.accepted += 1;
    if (outcome === 'executed') figures.executed += 1;
  });
  return { ...rule, figures };
}

/** Executes what our rules accept, and holds them to it. */
function tryPayment(runtime: Runtime, checks: typeof CHECKS, given: Case): 'executed' | 'failed' | undefined {
  const { token, terms, signers } = given;
  const bytes = bytesOf(given);
  const decoded = bytes === undefined ? undefined : decodeTransaction(bytes);
  if (!decoded?.ok || firstReason(checks, subjectOf(decoded.transaction, terms, POLICY)) !== undefined)
    return undefined;
  const { transaction } = decoded;
  const before = holdings(runtime);
  const { err, logs } = runtime.execute(transaction.bytes);
  const after = holdings(runtime);

  const fee = networkFee(transaction.requiredSignatures, transaction.instructions.map(readInstruction));
  const destination = associatedTokenAddress(terms.payTo, terms.asset, token.program);
  const paid = (account: string) => (err === null && account === destination ? terms.amount : 0n);
  for (const [account, amount] of before) {
    const gain = (after.get(account) ?? 0n) - amount;
    const spent = account === terms.feePayer ? fee : 0n;
    if (account === destination || isOurs(account)) assert.equal(gain, paid(account) - spent, account);
    else if (!isOf(signers.map(addressOfKey), account)) assert.ok(gain >= 0n, account);
  }
  assert.ok(fee <= MAX_FEE);
  if (err === null && terms.memo !== undefined) assert.equal(memosIn(logs).join(), terms.memo);
  return err === null ? 'executed' : 'failed';
}

/** What the memo program has noted: its log names the length, and then the text. */
function memosIn(logs: readonly string[]): string[] {
  return logs.flatMap((line, at) =>
    line.startsWith('Program log: Memo (len ') ? [String(logs[at + 1]).slice('Program log: '.length)] : [],
  );
}

/** Lamports of wallets, and amounts of token accounts. */
function holdings(runtime: Runtime): ReadonlyMap<string, bigint> {
  return new Map([
    ...OWNERS.map((it) => [it, runtime.balance(it)] as const),
    ...tokenAccounts().map((it) => [it, tokenAccountOf(runtime.account(it))?.amount ?? 0n] as const),
  ]);
}

function isOurs(account: string): boolean {
  return isOf(OURS, account);
}

function isOf(wallets: readonly string[], account: string): boolean {
  return wallets.includes(account) || tokenAccounts(wallets).includes(account);
}

function tokenAccounts(owners: readonly string[] = OWNERS): string[] {
  return TOKENS.flatMap(({ mint, program }) => owners.map((it) => associatedTokenAddress(it, mint, program)));
}

function aCase(): fc.Arbitrary<Case> {
  const facts = fc.record({
    token: fc.constantFrom(...TOKENS),
    amount: fc.constantFrom(1n, 10_000n, WEALTH, WEALTH + 1n),
    payTo: fc.constantFrom(...WALLETS, addressOfKey(seller), addressOfKey(seller)),
    memo: fc.constantFrom(undefined, undefined, 'order 7'),
    signers: fc.constantFrom([payer], [payer], [payer, stranger], [stranger], []),
  });
  return facts.chain(({ token, memo, signers, ...rest }) => {
    const terms: Terms = {
      scheme: 'exact',
      network: 'solana-devnet',
      asset: token.mint,
      maxTimeoutSeconds: 60,
      feePayer: addressOfKey(feePayer),
      ...rest,
      ...(memo === undefined ? {} : { memo }),
    };
    const addresses = [...WALLETS, ...tokenAccounts(), ...TOKENS.map(({ mint }) => mint), PROGRAMS.token];
    const transfer = honestTransfer({ terms, payer, token });
    const pool = {
      addresses,
      transfer,
      wallets: WALLETS,
      tokens: TOKENS,
      multisig: MULTISIGS.get(token.program) ?? '',
    };
    return someChanges(pool).map((change) => ({ token, terms, change, signers }));
  });
}

/** The transaction, signed by everybody but us; undefined where web3.js cannot write it down. */
function bytesOf({ token, terms, change, signers }: Case): Uint8Array | undefined {
  const honest = { ...honestDraft({ terms, payer, token, blockhash: BLOCKHASH }), signers };
  const spoiled = change(honest);
  try {
    return buildDraft(spoiled);
  } catch {
    return undefined;
  }
}

function addressOfKey({ publicKey }: Keypair): string {
  return publicKey.toBase58();
}
