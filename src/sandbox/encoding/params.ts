import { isRecord } from '../../lib/parsed.js';
import { isAddress, isSignature } from '../../protocol/address.js';
import type { Commitment } from '../../protocol/types.js';
import type { Chain } from '../chain/chain.js';
import { invalidParams, JsonRpcFault, RPC_CODES } from '../runtime/rpc-error.js';

/** The configuration object at the end of most parameter lists. */
export type Config = Readonly<Record<string, unknown>>;

/** A value together with the slot it was read at. */
export interface WithContext {
  readonly context: { readonly apiVersion: string; readonly slot: number };
  readonly value: unknown;
}

/** Version the sandbox says it is: that of the node software whose responses it imitates. */
export const API_VERSION = '3.0.0';

const COMMITMENTS: ReadonlySet<unknown> = new Set(['processed', 'confirmed', 'finalized']);

/** The configuration at a position; an empty one where there is none. */
export function readConfig(params: readonly unknown[], index: number): Config {
  const config = params[index] ?? {};
  if (!isRecord(config)) {
    throw invalidParams(`parameter ${index + 1} must be an object`);
  }
  return config;
}

/** An address at a position, checked. */
export function readAddress(params: readonly unknown[], index: number): string {
  return asAddress(params[index]);
}

/** The value as an address, checked. */
export function asAddress(value: unknown): string {
  if (typeof value !== 'string' || !isAddress(value)) {
    throw new JsonRpcFault(RPC_CODES.invalidParams, `Invalid param: ${JSON.stringify(value)} is not an address`);
  }
  return value;
}

/** The value as a signature, checked. */
export function asSignature(value: unknown): string {
  if (typeof value !== 'string' || !isSignature(value)) {
    throw new JsonRpcFault(RPC_CODES.invalidParams, `Invalid param: ${JSON.stringify(value)} is not a signature`);
  }
  return value;
}

/** A list at a position with at most `max` entries. */
export function readList(params: readonly unknown[], index: number, max: number): readonly unknown[] {
  const list = params[index];
  if (!Array.isArray(list)) {
    throw invalidParams(`parameter ${index + 1} must be a list`);
  }
  if (list.length > max) {
    throw new JsonRpcFault(RPC_CODES.invalidParams, `Too many inputs provided; max ${max}`);
  }
  return list;
}

/** A whole number, not negative, at a position. */
export function readCount(params: readonly unknown[], index: number): number {
  const value = params[index];
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw invalidParams(`parameter ${index + 1} must be a whole number`);
  }
  return value;
}

/** A commitment, `finalized` where none is given, as on a real node. */
export function asCommitment(value: unknown): Commitment {
  const commitment = value ?? 'finalized';
  if (!isCommitment(commitment)) {
    throw invalidParams(`unknown commitment ${JSON.stringify(value)}, expected processed, confirmed or finalized`);
  }
  return commitment;
}

/**
 * The commitment a call asks for.
 *
 * @throws RpcError `-32016` when the chain has not reached the slot the client has seen elsewhere
 */
export function readCommitment(chain: Chain, config: Config): Commitment {
  const commitment = asCommitment(config['commitment']);
  const wanted = config['minContextSlot'];
  const contextSlot = chain.slots.slot(commitment);
  if (typeof wanted === 'number' && wanted > contextSlot) {
    throw new JsonRpcFault(RPC_CODES.minContextSlot, 'Minimum context slot has not been reached', { contextSlot });
  }
  return commitment;
}

/** A value with the slot of its commitment beside it. */
export function withContext(chain: Chain, commitment: Commitment, value: unknown): WithContext {
  return { context: { apiVersion: API_VERSION, slot: chain.slots.slot(commitment) }, value };
}

function isCommitment(value: unknown): value is Commitment {
  return COMMITMENTS.has(value);
}
