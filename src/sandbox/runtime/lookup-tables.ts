import { AddressLookupTableAccount, type VersionedMessage } from '@solana/web3.js';
import type { Runtime } from './runtime.js';

/** Addresses a transaction takes from look-up tables. */
export interface LoadedAddresses {
  readonly writable: readonly string[];
  readonly readonly: readonly string[];
}

const PROGRAM = 'AddressLookupTab1e1111111111111111111111111';
const NOTHING: LoadedAddresses = { writable: [], readonly: [] };

/** Resolves the addresses a message takes from look-up tables; none where the runtime will refuse the message anyway. */
export function loadedAddresses(runtime: Runtime, message: VersionedMessage): LoadedAddresses {
  const writable: (string | undefined)[] = [];
  const readonly: (string | undefined)[] = [];
  for (const lookup of message.addressTableLookups) {
    const addresses = readTable(runtime, lookup.accountKey.toBase58());
    writable.push(...lookup.writableIndexes.map((index) => addresses[index]));
    readonly.push(...lookup.readonlyIndexes.map((index) => addresses[index]));
  }
  return isComplete(writable) && isComplete(readonly) ? { writable, readonly } : NOTHING;
}

function readTable(runtime: Runtime, address: string): string[] {
  const account = runtime.account(address);
  if (account?.owner !== PROGRAM) {
    return [];
  }
  try {
    return AddressLookupTableAccount.deserialize(account.data).addresses.map((entry) => entry.toBase58());
  } catch {
    return [];
  }
}

function isComplete(addresses: (string | undefined)[]): addresses is string[] {
  return !addresses.includes(undefined);
}
