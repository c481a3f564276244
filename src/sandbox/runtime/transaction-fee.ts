import { ComputeBudgetProgram, type VersionedMessage } from '@solana/web3.js';

const LAMPORTS_PER_SIGNATURE = 5_000n;
const MAX_UNITS = 1_400_000;
const DEFAULT_UNITS = 200_000;
const BUILTIN_UNITS = 3_000;

/** Programs inside the runtime, for which a transaction is given fewer units by default (SIMD-0170). */
const BUILTINS = new Set([
  '11111111111111111111111111111111',
  'Vote111111111111111111111111111111111111111',
  'ComputeBudget111111111111111111111111111111',
  'BPFLoader1111111111111111111111111111111111',
  'BPFLoader2111111111111111111111111111111111',
  'BPFLoaderUpgradeab1e11111111111111111111111',
  'LoaderV411111111111111111111111111111111111',
]);

/** Programs whose instructions carry signatures of their own, charged like a transaction's; the count is the first byte. */
const SIGNATURE_PROGRAMS = new Set([
  'Ed25519SigVerify111111111111111111111111111',
  'KeccakSecp256k11111111111111111111111111111',
  'Secp256r1SigVerify1111111111111111111111111',
]);

interface Instruction {
  readonly program: string;
  readonly data: Uint8Array;
}

/** Lamports the fee payer is charged for a message: 5,000 per signature, and the price of the units it may use. */
export function transactionFee(message: VersionedMessage): bigint {
  const instructions = message.compiledInstructions.map(({ programIdIndex, data }) => ({
    program: message.staticAccountKeys[programIdIndex]?.toBase58() ?? '',
    data,
  }));
  const signatures = instructions
    .filter(({ program }) => SIGNATURE_PROGRAMS.has(program))
    .reduce((sum, { data }) => sum + (data[0] ?? 0), message.header.numRequiredSignatures);
  return LAMPORTS_PER_SIGNATURE * BigInt(signatures) + priorityFee(instructions);
}

function priorityFee(instructions: readonly Instruction[]): bigint {
  const budget = instructions.filter(({ program }) => program === ComputeBudgetProgram.programId.toBase58());
  const limit = budget.find(({ data }) => data[0] === 2 && data.length >= 5);
  const price = budget.find(({ data }) => data[0] === 3 && data.length >= 9);
  if (price === undefined) {
    return 0n;
  }
  const units = limit === undefined ? defaultUnits(instructions) : Buffer.from(limit.data).readUInt32LE(1);
  const microLamports = Buffer.from(price.data).readBigUInt64LE(1) * BigInt(Math.min(units, MAX_UNITS));
  return (microLamports + 999_999n) / 1_000_000n;
}

function defaultUnits(instructions: readonly Instruction[]): number {
  return instructions.reduce((sum, { program }) => sum + (BUILTINS.has(program) ? BUILTIN_UNITS : DEFAULT_UNITS), 0);
}
