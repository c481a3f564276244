import {
  createAssociatedTokenAccountIdempotentInstruction,
  getAssociatedTokenAddressSync,
  MintLayout,
} from '@solana/spl-token';
import { PublicKey, type TransactionInstruction, TransactionMessage, VersionedTransaction } from '@solana/web3.js';
import { badOption } from '../../errors/errors.js';
import { boundedCache } from '../../lib/bounded-cache.js';
import { SOL_MINT } from '../../protocol/networks/tokens.js';
import type { Token } from '../../protocol/types.js';
import type { Chain } from '../chain/chain.js';
import type { RuntimeAccount } from '../runtime/runtime.js';
import {
  decodeMint,
  newTokenAccount,
  readTokenAccount,
  TOKEN_PROGRAM,
  withAmountAdded,
  withSupplyAdded,
} from '../runtime/token-layout.js';
import { describeTransactionError } from '../runtime/transaction-errors.js';

/** Gives out money and tokens. What it gives is final at once and appears in no transaction. */
export interface Faucet {
  /** Adds lamports to an address. */
  airdrop(address: string, lamports: bigint): void;
  /** Adds tokens to an owner's associated token account, which is created when missing; returns its address. */
  fundToken(owner: string, mint: string, amountAtomic: bigint): string;
  /** Puts a mint at a chosen address, with the treasury as its authority. */
  placeMint(token: Token): void;
  /** Puts the mint of wrapped SOL where every cluster has it from its first block; nobody mints or freezes it. */
  placeWrappedSol(): void;
  /** Executes instructions that the treasury pays for. Nobody signs: the runtime looks at no signatures. */
  run(instructions: readonly TransactionInstruction[]): void;
}

const SYSTEM_PROGRAM = '1'.repeat(32);
const MINT_SIZE = MintLayout.span;

/** Creates the faucet of a chain. */
export function createFaucet(chain: Chain): Faucet {
  const { runtime, accounts, treasury } = chain;

  const run: Faucet['run'] = (instructions) => {
    const payerKey = treasury.publicKey;
    const recentBlockhash = chain.blockhashes.at(chain.slots.height());
    const message = new TransactionMessage({ payerKey, recentBlockhash, instructions: [...instructions] });
    const transaction = new VersionedTransaction(message.compileToV0Message());
    const { err, logs } = runtime.execute(transaction.serialize());
    if (err !== null) {
      throw new Error(`sandbox: ${describeTransactionError(err)}\n${logs.join('\n')}`);
    }
  };

  /** The token account at an associated address; a new one is what the program makes of it, whose extensions only it knows. */
  function openAccount(address: string, owner: string, mint: string, program: string): RuntimeAccount {
    const known = runtime.account(address);
    if (known !== null && readTokenAccount(known) !== null) return known;
    if (program === TOKEN_PROGRAM && mint !== SOL_MINT) {
      const data = newTokenAccount(mint, owner);
      const rent = runtime.rentExempt(data.length);
      const there = known?.lamports ?? 0n;
      return { lamports: there > rent ? there : rent, owner: program, data, executable: false };
    }
    run([createAccountInstruction(treasury.publicKey, address, owner, mint, program)]);
    const made = runtime.account(address);
    if (made === null) throw new Error(`sandbox: token account ${address} could not be created`);
    return made;
  }

  const fundToken: Faucet['fundToken'] = (owner, mint, amountAtomic) => {
    const mintState = runtime.account(mint);
    if (mintState === null || decodeMint(mintState) === null) {
      throw badOption('fundToken', `there is no mint at ${mint}; create one with createMint`, 'mint');
    }
    const account = tokenAddress(owner, mint, mintState.owner);
    const funded = withAmountAdded(openAccount(account, owner, mint, mintState.owner), amountAtomic);
    if (mint === SOL_MINT) {
      // Wrapped SOL is the lamports of its account, and has no supply of its own.
      accounts.write(account, { ...funded, lamports: funded.lamports + amountAtomic });
      return account;
    }
    accounts.write(account, funded);
    accounts.write(mint, withSupplyAdded(mintState, amountAtomic));
    return account;
  };

  function writeMint(token: Pick<Token, 'mint' | 'program' | 'decimals'>, authority: PublicKey | undefined): void {
    const { mint, decimals, program } = token;
    const data = Buffer.alloc(MINT_SIZE);
    const option = authority === undefined ? 0 : 1;
    const options = { mintAuthorityOption: option, freezeAuthorityOption: option, isInitialized: true } as const;
    const key = authority ?? PublicKey.default;
    MintLayout.encode({ ...options, mintAuthority: key, freezeAuthority: key, supply: 0n, decimals }, data);
    const lamports = runtime.rentExempt(MINT_SIZE);
    accounts.write(mint, { lamports, owner: program, data, executable: false });
  }

  return {
    airdrop: (address, lamports) => {
      const state: RuntimeAccount = runtime.account(address) ?? emptyAccount();
      accounts.write(address, { ...state, lamports: state.lamports + lamports });
    },
    fundToken,
    placeMint: (token) => writeMint(token, treasury.publicKey),
    placeWrappedSol: () => writeMint({ mint: SOL_MINT, program: TOKEN_PROGRAM, decimals: 9 }, undefined),
    run,
  };
}

// A derivation costs several hashes and curve checks, and balances are looked up again and again.
const derived = boundedCache<string, string>({ max: 10_000 });

/** The associated token account of an owner, who may be off the curve. */
export function tokenAddress(owner: string, mint: string, program: string): string {
  const key = `${owner}:${mint}:${program}`;
  const known = derived.get(key);
  if (known !== undefined) return known;
  const programKey = new PublicKey(program);
  const address = getAssociatedTokenAddressSync(new PublicKey(mint), new PublicKey(owner), true, programKey).toBase58();
  derived.set(key, address);
  return address;
}

function createAccountInstruction(
  payer: PublicKey,
  account: string,
  owner: string,
  mint: string,
  program: string,
): TransactionInstruction {
  return createAssociatedTokenAccountIdempotentInstruction(
    payer,
    new PublicKey(account),
    new PublicKey(owner),
    new PublicKey(mint),
    new PublicKey(program),
  );
}

function emptyAccount(): RuntimeAccount {
  return { lamports: 0n, owner: SYSTEM_PROGRAM, data: new Uint8Array(), executable: false };
}
