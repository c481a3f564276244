import type { SimulationOptions } from './rpc.js';

/** Parameters of `simulateTransaction`. What is not asked for is left out: older nodes refuse fields that they do not know. */
export function simulationParams(transaction: Uint8Array, options: SimulationOptions): readonly unknown[] {
  const { commitment, accounts = [], innerInstructions = false, replaceBlockhash = false } = options;
  const config = {
    encoding: 'base64',
    sigVerify: false,
    replaceRecentBlockhash: replaceBlockhash,
    commitment,
    ...(accounts.length === 0 ? {} : { accounts: { encoding: 'base64', addresses: accounts } }),
    ...(innerInstructions ? { innerInstructions } : {}),
  };
  return [base64(transaction), config];
}

/** Bytes as base64. */
export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
