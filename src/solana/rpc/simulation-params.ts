import type { SimulationOptions } from './rpc.js';

/** Parameters of `simulateTransaction`. What is not asked for is left out: older nodes refuse fields that they do not know. */
export function simulationParams(transaction: Uint8Array, options: SimulationOptions): readonly unknown[] {
  const { commitment, accounts = [], innerInstructions = false, replaceBlockhash = false } = options;
  // JSON leaves out what is undefined.
  const config = {
    encoding: 'base64',
    sigVerify: false,
    replaceRecentBlockhash: replaceBlockhash,
    commitment,
    accounts: accounts.length === 0 ? undefined : { encoding: 'base64', addresses: accounts },
    innerInstructions: innerInstructions ? true : undefined,
  };
  return [base64(transaction), config];
}

/** Bytes as base64. */
export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
