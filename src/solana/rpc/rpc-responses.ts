import type { Commitment } from '../../protocol/types.js';
import { count, listOf, record, text } from './response-shape.js';
import { ResponseShapeError } from './response-shape-error.js';
import type {
  AccountState,
  ChainTip,
  LatestBlockhash,
  SignatureState,
  SignatureStatuses,
  SimulationOptions,
  SimulationOutcome,
} from './rpc.js';

const COMMITMENTS: Readonly<Record<string, Commitment>> = {
  processed: 'processed',
  confirmed: 'confirmed',
  finalized: 'finalized',
};

/** Result of `getLatestBlockhash`. */
export function readLatestBlockhash(result: unknown): LatestBlockhash {
  const value = record(record(result, 'result')['value'], 'value');
  return {
    blockhash: text(value['blockhash'], 'blockhash'),
    lastValidBlockHeight: count(value['lastValidBlockHeight'], 'lastValidBlockHeight'),
  };
}

/** Result of `getEpochInfo`. */
export function readTip(result: unknown): ChainTip {
  const info = record(result, 'result');
  return { slot: count(info['absoluteSlot'], 'absoluteSlot'), blockHeight: count(info['blockHeight'], 'blockHeight') };
}

/** Result of `getMultipleAccounts` in base64. */
export function readAccounts(result: unknown, expected: number): readonly (AccountState | null)[] {
  return list(record(result, 'result')['value'], 'value', expected).map(readAccount);
}

/** Result of `getTokenAccountsByOwner` in base64. */
export function readTokenAccounts(result: unknown): readonly AccountState[] {
  const { value } = record(result, 'result');
  if (!Array.isArray(value)) throw new ResponseShapeError('value is not a list');
  return value.map((entry: unknown) => {
    const account = readAccount(record(entry, 'value[]')['account']);
    if (account === null) throw new ResponseShapeError('value[].account is not an object');
    return account;
  });
}

type SimulationExtras = Omit<SimulationOptions, 'commitment'>;

/** Result of `simulateTransaction`; what was not asked for is not read. */
export function readSimulation(result: unknown, asked: SimulationExtras = {}): SimulationOutcome {
  const { slot, value } = withSlot(result);
  const outcome = record(value, 'value');
  if (!('err' in outcome)) throw new ResponseShapeError('value.err is missing');
  const logs = Array.isArray(outcome['logs']) ? outcome['logs'].filter((line) => typeof line === 'string') : [];
  const accounts = readSimulatedAccounts(outcome['accounts'], asked.accounts ?? []);
  const innerInstructions = asked.innerInstructions ? readCallers(outcome['innerInstructions']) : undefined;
  return { err: outcome['err'], logs, slot, accounts, innerInstructions };
}

/** Result of `getSignatureStatuses`. */
export function readStatuses(result: unknown, expected: number): SignatureStatuses {
  const { slot, value } = withSlot(result);
  return { slot, states: list(value, 'value', expected).map(readState) };
}

/** Result of a call that answers a single text, as `sendTransaction` and `getGenesisHash`. */
export function readText(result: unknown): string {
  return text(result, 'result');
}

function readSimulatedAccounts(
  accounts: unknown,
  asked: readonly string[],
): readonly (AccountState | null)[] | undefined {
  if (asked.length === 0 || accounts === undefined || accounts === null) return undefined;
  return listOf(list(accounts, 'accounts', asked.length), 'accounts', readAccount);
}

/** Only groups that hold a call count: some nodes list an empty group for each instruction. */
function readCallers(groups: unknown): readonly number[] | undefined {
  if (groups === undefined || groups === null) return undefined;
  const read = listOf(groups, 'innerInstructions', (group) => {
    const { index, instructions } = record(group, 'innerInstructions[]');
    if (!Array.isArray(instructions)) throw new ResponseShapeError('innerInstructions[].instructions is not a list');
    return { position: count(index, 'innerInstructions[].index'), calls: instructions.length };
  });
  return read.flatMap(({ position, calls }) => (calls > 0 ? [position] : []));
}

function readAccount(account: unknown): AccountState | null {
  if (account === null) return null;
  const { lamports, owner, data } = record(account, 'account');
  const content: unknown = Array.isArray(data) && data[1] === 'base64' ? data[0] : undefined;
  return {
    lamports: amount(lamports, 'lamports'),
    owner: text(owner, 'owner'),
    data: Buffer.from(text(content, 'data'), 'base64'),
  };
}

function readState(state: unknown): SignatureState | null {
  if (state === null) return null;
  const status = record(state, 'status');
  if (!('err' in status)) throw new ResponseShapeError('status.err is missing');
  return { slot: count(status['slot'], 'status.slot'), err: status['err'], commitment: commitmentOf(status) };
}

/** Nodes before 1.3 and some providers give only `confirmations`, which is null once the block is final. */
function commitmentOf(status: Record<string, unknown>): Commitment {
  const named = status['confirmationStatus'];
  if (typeof named === 'string') {
    const commitment = Object.hasOwn(COMMITMENTS, named) ? COMMITMENTS[named] : undefined;
    if (commitment === undefined) throw new ResponseShapeError('status.confirmationStatus is unknown');
    return commitment;
  }
  return status['confirmations'] === null ? 'finalized' : 'processed';
}

function withSlot(result: unknown): { slot: number; value: unknown } {
  const { context, value } = record(result, 'result');
  return { slot: count(record(context, 'context')['slot'], 'context.slot'), value };
}

function list(value: unknown, name: string, expected: number): readonly unknown[] {
  if (Array.isArray(value) && value.length === expected) return value;
  throw new ResponseShapeError(`${name} is not a list of ${expected}`);
}

function amount(value: unknown, name: string): bigint {
  if (typeof value === 'string' && /^\d{1,20}$/.test(value)) return BigInt(value);
  return BigInt(count(value, name));
}
