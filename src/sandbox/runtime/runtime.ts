import type * as LiteSvmModule from 'litesvm/dist/internal.js';
import { whyNotLoaded } from '../../lib/optional-packages.js';
import { addressBytes, addressOf } from '../../protocol/address.js';
import { INSTRUCTION_ERRORS, TRANSACTION_ERRORS, type TransactionErr } from './transaction-errors.js';

/** An account as the runtime holds it. */
export interface RuntimeAccount {
  readonly lamports: bigint;
  /** Address of the program that owns the account, base58. */
  readonly owner: string;
  readonly data: Uint8Array;
  readonly executable: boolean;
}

/** An instruction called by another one; indexes point into the transaction's account keys. */
export interface InnerInstruction {
  readonly programIdIndex: number;
  readonly accounts: readonly number[];
  readonly data: Uint8Array;
  readonly stackHeight: number;
}

/** What came of executing or simulating a transaction. */
export interface Execution {
  readonly err: TransactionErr | null;
  readonly logs: readonly string[];
  /** One list per instruction of the transaction. */
  readonly innerInstructions: readonly (readonly InnerInstruction[])[];
  readonly unitsConsumed: bigint;
  readonly returnData: { readonly programId: string; readonly data: Uint8Array } | null;
  /** Accounts after a simulation that succeeded, by address; empty otherwise. */
  readonly postAccounts: ReadonlyMap<string, RuntimeAccount>;
}

/** What programs see of the chain around them. */
export interface Sysvars {
  readonly slot: number;
  readonly epoch: number;
  /** In seconds. */
  readonly unixTime: number;
  /** Newest first. */
  readonly slotHashes: readonly { readonly slot: bigint; readonly hash: string }[];
}

/** Solana's real runtime in this process: accounts and programs, without blocks, blockhashes or signatures checks. */
export interface Runtime {
  account(address: string): RuntimeAccount | null;
  balance(address: string): bigint;
  setAccount(address: string, state: RuntimeAccount): void;
  addProgram(address: string, elf: Uint8Array): void;
  /** Addresses of all accounts that a program owns. */
  ownedBy(program: string): string[];
  /** Lamports an account of `size` bytes must hold. */
  rentExempt(size: number): bigint;
  /** Sets what programs see of the chain. Read when the runtime is used next: most slots of a chain see nothing. */
  setSysvars(read: () => Sysvars): void;
  /** Executes a decodable transaction: fees and effects stay. */
  execute(transaction: Uint8Array): Execution;
  /** Executes a decodable transaction without a trace. */
  simulate(transaction: Uint8Array): Execution;
}

type LiteSvm = (typeof LiteSvmModule)['default'];

/**
 * Starts an empty runtime with the standard programs.
 *
 * @throws TollhouseError `missing_dependency` when the optional package `litesvm` is not installed
 */
export async function createRuntime(): Promise<Runtime> {
  const lite = await loadLiteSvm();
  const svm = new lite.LiteSvm();
  // The chain keeps its own blockhashes, checks signatures itself and refuses duplicates by message.
  svm.setBlockhashCheck(false);
  svm.setSigverify(false);
  svm.setTransactionHistory(0n);
  let readSysvars: (() => Sysvars) | undefined;

  /** The runtime as of the newest slot. */
  function current(): typeof svm {
    if (readSysvars === undefined) return svm;
    const { slot, epoch, unixTime, slotHashes } = readSysvars();
    readSysvars = undefined;
    const time = BigInt(unixTime);
    svm.setSlotHashes([...slotHashes]);
    svm.setClock(new lite.Clock(BigInt(slot), time, BigInt(epoch), BigInt(epoch + 1), time));
    return svm;
  }

  return {
    account: (address) => {
      const account = current().getAccount(addressBytes(address));
      return account === null ? null : toState(account);
    },
    balance: (address) => svm.getBalance(addressBytes(address)) ?? 0n,
    setAccount: (address, { lamports, owner, data, executable }) => {
      svm.setAccount(addressBytes(address), new lite.Account(lamports, data, addressBytes(owner), executable, 0n));
    },
    addProgram: (address, elf) => svm.addProgram(addressBytes(address), elf),
    ownedBy: (program) =>
      current()
        .getProgramAccounts(addressBytes(program))
        .map((entry) => addressOf(entry.address)),
    rentExempt: (size) => svm.minimumBalanceForRentExemption(BigInt(size)),
    setSysvars: (read) => {
      readSysvars = read;
    },
    execute: (transaction) => toExecution(lite, current().sendVersionedTransaction(transaction)),
    simulate: (transaction) => toExecution(lite, current().simulateVersionedTransaction(transaction)),
  };
}

/**
 * The package's byte interface, not its main one: that one turns every address and transaction into the objects of a
 * second copy of @solana/kit, at 50 microseconds an account.
 */
async function loadLiteSvm(): Promise<LiteSvm> {
  try {
    return (await import('litesvm/dist/internal.js')).default;
  } catch (cause) {
    throw whyNotLoaded('startSandbox', 'litesvm', cause);
  }
}

function toState(account: LiteSvmModule.Account): RuntimeAccount {
  return {
    lamports: account.lamports(),
    owner: addressOf(account.owner()),
    data: account.data(),
    executable: account.executable(),
  };
}

function toExecution(
  lite: LiteSvm,
  outcome:
    | LiteSvmModule.TransactionMetadata
    | LiteSvmModule.FailedTransactionMetadata
    | LiteSvmModule.SimulatedTransactionInfo,
): Execution {
  const meta = outcome instanceof lite.TransactionMetadata ? outcome : outcome.meta();
  const returned = meta.returnData();
  const data = returned.data();
  return {
    err: outcome instanceof lite.FailedTransactionMetadata ? toErr(lite, outcome.err()) : null,
    logs: meta.logs(),
    innerInstructions: meta.innerInstructions().map((group) => group.map(toInner)),
    unitsConsumed: meta.computeUnitsConsumed(),
    returnData: data.length === 0 ? null : { programId: addressOf(returned.programId()), data },
    postAccounts: new Map(
      outcome instanceof lite.SimulatedTransactionInfo
        ? outcome.postAccounts().map((entry) => [addressOf(entry.address), toState(entry.account())])
        : [],
    ),
  };
}

function toInner(inner: LiteSvmModule.InnerInstruction): InnerInstruction {
  const instruction = inner.instruction();
  return {
    programIdIndex: instruction.programIdIndex(),
    accounts: [...instruction.accounts()],
    data: instruction.data(),
    stackHeight: inner.stackHeight(),
  };
}

function toErr(lite: LiteSvm, err: ReturnType<LiteSvmModule.FailedTransactionMetadata['err']>): TransactionErr {
  if (typeof err === 'number') {
    return TRANSACTION_ERRORS[err]?.[0] ?? `UnknownTransactionError${err}`;
  }
  if (err instanceof lite.TransactionErrorInstructionError) {
    return { InstructionError: [err.index, toInstructionErr(lite, err.err())] };
  }
  if (err instanceof lite.TransactionErrorDuplicateInstruction) {
    return { DuplicateInstruction: err.index };
  }
  const name =
    err instanceof lite.TransactionErrorInsufficientFundsForRent
      ? 'InsufficientFundsForRent'
      : 'ProgramExecutionTemporarilyRestricted';
  return { [name]: { account_index: err.accountIndex } };
}

function toInstructionErr(
  lite: LiteSvm,
  err: ReturnType<LiteSvmModule.TransactionErrorInstructionError['err']>,
): TransactionErr {
  if (typeof err === 'number') {
    return INSTRUCTION_ERRORS[err]?.[0] ?? `UnknownInstructionError${err}`;
  }
  return err instanceof lite.InstructionErrorCustom ? { Custom: err.code } : 'BorshIoError';
}
