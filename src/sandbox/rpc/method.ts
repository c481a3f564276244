import type { Chain } from '../chain/chain.js';
import type { Fault } from '../faults.js';

/**
 * A JSON-RPC method.
 *
 * @param chain - what it asks
 * @param params - the positional parameters, unchecked
 * @param fault - the fault in force for this call, where it changes what the method does and not how it is answered
 * @returns the `result`
 * @throws RpcError to answer an error
 */
export type RpcMethod = (chain: Chain, params: readonly unknown[], fault?: Fault) => unknown;
