// `tollhouse/storage`: where payments, counters and kept responses stay, and the interfaces for a store of your own.
export type { Counters, WindowCount } from '../storage/counters/counters.js';
export { createMemoryCounters, type MemoryCountersOptions } from '../storage/counters/memory-counters.js';
export type { HeldTimes, Sighting } from '../storage/held/held-times.js';
export type {
  BegunRun,
  EndedRun,
  IdempotencyBounds,
  IdempotencyStore,
  IdempotentRun,
  KnownResponse,
} from '../storage/idempotency/idempotency-store.js';
export { createMemoryIdempotencyStore } from '../storage/idempotency/memory-idempotency-store.js';
export type { Ledger } from '../storage/ledger/ledger.js';
export { createMemoryLedger, type MemoryLedgerOptions } from '../storage/ledger/memory-ledger.js';
export { openStorage } from '../storage/open-storage.js';
export type { Storage, StorageOptions } from '../storage/storage.js';
