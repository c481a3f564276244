import { ACCOUNT_SIZE } from '@solana/spl-token';
import { AddressLookupTableAccount, Keypair, PublicKey } from '@solana/web3.js';
import { SOL_MINT } from '../../src/protocol/networks/tokens.js';
import { type Chain, createChain } from '../../src/sandbox/chain/chain.js';
import { createRuntime, type Runtime, type RuntimeAccount } from '../../src/sandbox/runtime/runtime.js';
import { resolveSandboxOptions } from '../../src/sandbox/sandbox-options.js';
import { createMint } from '../../src/sandbox/tokens/create-mint.js';
import { createFaucet } from '../../src/sandbox/tokens/faucet.js';
import { tokenAccountOf } from '../../src/solana/accounts/token-accounts.js';
import { associatedTokenAddress } from '../../src/solana/transaction/associated-token.js';
import { PROGRAMS } from '../../src/solana/transaction/programs.js';
import { multisigOf } from '../helpers/transactions/multisig.js';

/** A mint of the world. */
export interface WorldMint {
  readonly mint: string;
  readonly program: string;
  readonly decimals: number;
  /** Bytes of an account for it. */
  readonly size: number;
}

/** Wallets, mints and their accounts on a chain of their own, which can be put back to their start. */
export interface World {
  readonly chain: Chain;
  /** The last is a multisig account of the classic token program, for which the first may sign. */
  readonly wallets: readonly string[];
  /** Classic, wrapped SOL, Token-2022, Token-2022 with a fee. */
  readonly mints: readonly WorldMint[];
  /** Associated token accounts, all that there can be, then addresses at which others may be opened. */
  readonly accounts: readonly string[];
  /** Addresses at which accounts may be opened; some are there from the start. */
  readonly slots: readonly string[];
  readonly lookupTable: AddressLookupTableAccount;
  restore(): void;
}

/** What an account holds, as the runtime says. */
export interface Held {
  readonly lamports: bigint;
  readonly token: { readonly mint: string; readonly owner: string; readonly amount: bigint } | undefined;
}

/** Atomic units in each account at the start. */
export const WEALTH = 1_000_000n;
const LAMPORTS = 5_000_000_000n;
const WALLETS = 5;
const SLOTS = 5;
const FEE = { transferFee: { basisPoints: 500, maximumFee: 10n ** 9n } };
const FEE_ACCOUNT_BYTES = 178;
const TABLE_HEAD = 56;
const GONE: RuntimeAccount = { lamports: 0n, owner: PROGRAMS.system, data: new Uint8Array(), executable: false };

/** Opens a world. The last wallet but the multisig has no token accounts at the start. */
export async function openWorld(): Promise<World> {
  const runtime = await createRuntime();
  const chain = createChain(runtime, resolveSandboxOptions({ slotMs: 0, historyLimit: 10 }));
  chain.slots.advance();
  const faucet = createFaucet(chain);
  const fresh = () => Keypair.generate().publicKey.toBase58();
  const keys = Array.from({ length: WALLETS }, fresh);
  const multisig = fresh();
  faucet.placeWrappedSol();
  const [classic, plain, charging] = [{}, { program: 'token-2022' as const }, { extensions: FEE }].map((it) =>
    createMint(chain, faucet, it),
  ) as [WorldMint, WorldMint, WorldMint];
  const mints = [
    { ...classic, size: ACCOUNT_SIZE },
    { mint: SOL_MINT, program: PROGRAMS.token, decimals: 9, size: ACCOUNT_SIZE },
    { ...plain, size: ACCOUNT_SIZE },
    { ...charging, size: FEE_ACCOUNT_BYTES },
  ];
  for (const wallet of keys) faucet.airdrop(wallet, LAMPORTS);
  runtime.setAccount(multisig, multisigOf(new PublicKey(keys[0] ?? ''), PROGRAMS.token));
  const wallets = [...keys, multisig];
  for (const wallet of [...keys.slice(0, -1), multisig]) {
    for (const { mint } of mints) {
      faucet.fundToken(wallet, mint, WEALTH);
    }
  }
  const slots = Array.from({ length: SLOTS }, fresh);
  const [first = '', second = ''] = slots;
  for (const [slot, owner] of [
    [first, keys[0]],
    [second, keys[1]],
  ] as const) {
    const state = runtime.account(associatedTokenAddress(owner ?? '', classic.mint, PROGRAMS.token));
    if (state !== null) runtime.setAccount(slot, state);
  }
  const own = wallets.flatMap((it) => mints.map(({ mint, program }) => associatedTokenAddress(it, mint, program)));
  const accounts = [...own, ...slots];
  const lookupTable = placeTable(runtime, [...mints.map(({ mint }) => mint), ...accounts]);
  const all = [...wallets, ...accounts, ...mints.map(({ mint }) => mint)];
  const start = all.map((it) => [it, runtime.account(it) ?? GONE] as const);
  const restore = () => {
    for (const [address, state] of start) runtime.setAccount(address, state);
  };
  return { chain, wallets, mints, accounts, slots, lookupTable, restore };
}

/** Every account of a world, read from the runtime. */
export function holdings({ chain, wallets, accounts }: World): ReadonlyMap<string, Held> {
  const { runtime } = chain;
  return new Map(
    [...wallets, ...accounts].map((it) => {
      const state = runtime.account(it);
      const isOpen = state !== null && state.data.length >= ACCOUNT_SIZE && !wallets.includes(it);
      return [it, { lamports: state?.lamports ?? 0n, token: isOpen ? tokenAccountOf(state) : undefined }];
    }),
  );
}

function placeTable(runtime: Runtime, addresses: readonly string[]): AddressLookupTableAccount {
  const address = Keypair.generate().publicKey;
  const head = Buffer.alloc(TABLE_HEAD);
  head.writeUInt32LE(1, 0);
  // Never closed; extended in slot 0; no authority.
  head.fill(0xff, 4, 12);
  const data = Buffer.concat([head, ...addresses.map((it) => new PublicKey(it).toBuffer())]);
  const owner = 'AddressLookupTab1e1111111111111111111111111';
  runtime.setAccount(address.toBase58(), { lamports: 10n ** 9n, owner, data, executable: false });
  return new AddressLookupTableAccount({ key: address, state: AddressLookupTableAccount.deserialize(data) });
}
