/** Error codes of Solana's JSON-RPC that the sandbox answers with (https://solana.com/docs/rpc, agave `custom_error.rs`). */
export const RPC_CODES = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  preflightFailure: -32002,
  signatureVerification: -32003,
  unsupportedVersion: -32015,
  minContextSlot: -32016,
} as const;

/** An error that is answered as the `error` member of a JSON-RPC response. */
export class JsonRpcFault extends Error {
  override readonly name = 'RpcError';

  /**
   * @param code - one of {@link RPC_CODES}, or any other integer
   * @param message - the text clients show and sometimes parse
   * @param data - what real nodes send beside it; absent when undefined
   */
  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
  ) {
    super(message);
  }
}

/** The error for a parameter of the wrong kind or value (`-32602`). */
export function invalidParams(message: string): JsonRpcFault {
  return new JsonRpcFault(RPC_CODES.invalidParams, `Invalid params: ${message}`);
}
