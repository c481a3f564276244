import { createFaults, type Fault } from '../../../src/sandbox/faults.js';
import { resolveSandboxOptions } from '../../../src/sandbox/sandbox-options.js';

test('everything has a default', () => {
  expect(resolveSandboxOptions()).toEqual({
    port: 0,
    host: '127.0.0.1',
    network: 'solana-devnet',
    slotMs: 200,
    confirmedAfterSlots: 2,
    finalizedAfterSlots: 32,
    maxBlockhashAgeBlocks: 300,
    historyLimit: 100_000,
  });
});

test.each([
  [{ slotMs: 0 }, 150],
  [{ slotMs: 1 }, 60_000],
  [{ slotMs: 20 }, 3_000],
  [{ slotMs: 400 }, 150],
  [{ slotMs: 60_000 }, 150],
  [{ slotMs: 20, maxBlockhashAgeBlocks: 150 }, 150],
])('with %j a blockhash lives %d blocks: a minute, if nobody says otherwise', (options, blocks) => {
  expect(resolveSandboxOptions(options).maxBlockhashAgeBlocks).toBe(blocks);
});

test.each([
  [{ maxBlockhashAgeBlocks: 60_001 }, 'from 1 to 60000'],
  [{ slotMS: 5 }, 'slotMs'],
  [{ network: 'mainnet' }, '"solana-devnet" or "solana"'],
  [{ port: 65_536 }, 'from 0 to 65535'],
  [{ slotMs: Number.NaN }, 'slotMs'],
  [{ slotMs: '200' }, 'whole number'],
  [{ confirmedAfterSlots: 3, finalizedAfterSlots: 2 }, 'must not be below "confirmedAfterSlots"'],
  [{ host: '' }, 'address to listen on'],
])('%j is refused with the fix', (options, hint) => {
  expect(() => resolveSandboxOptions(options as never)).toThrow(hint);
});

test.each([
  [{ kind: 'explode' }, 'drop, late, delay'],
  [{ kind: 'drop', method: 'getSlot' }, 'sendTransaction only'],
  [{ kind: 'silent', method: 'getSlot' }, 'subscriptions only'],
  [{ kind: 'error', method: 'getSlott' }, 'no method "getSlott"'],
  [{ kind: 'error', time: 1 }, 'unknown field "time"'],
  [{ kind: 'error', times: 0 }, '"times" must be a whole number above 0'],
  [{ kind: 'delay', delayMs: Number.NaN }, '"delayMs"'],
])('the fault %j is refused with the fix', (fault, hint) => {
  const faults = createFaults(['getSlot', 'sendTransaction', 'slotSubscribe']);
  expect(() => faults.add(fault as Fault)).toThrow(hint);
});
