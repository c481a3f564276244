import { createIdempotentRequest } from '../../../../src/middleware/idempotency/idempotent-request.js';
import type { StoredResponse } from '../../../../src/middleware/response/response-seal.js';
import { createMemoryIdempotencyStore } from '../../../../src/storage/idempotency/memory-idempotency-store.js';

const RESPONSE: StoredResponse = { statusCode: 201, headers: { 'x-own': 'a' }, body: Buffer.from('the goods') };

/** Runs of requests whose responses are kept in one store. */
function openStore() {
  const store = createMemoryIdempotencyStore();
  return (fingerprint = 'request', secret = 'secret', scope = 'scope') =>
    createIdempotentRequest({ store, scope, secret, fingerprint, leaseMs: 60_000 });
}

/** What is known, with the body of a response as text. */
function shown(known: object | undefined): unknown {
  if (known === undefined || !('response' in known)) return known;
  const response = known.response as StoredResponse;
  return { ...known, response: { ...response, body: Buffer.from(response.body).toString() } };
}

const REPLAY = { status: 'replay', response: { ...RESPONSE, body: 'the goods' } };

describe('a request under a secret', () => {
  test('begins once, is running until it ends, and then has the response that was kept', async () => {
    const run = openStore();
    const first = run();
    expect(await first.find()).toBeUndefined();
    expect(await first.begin()).toEqual({ status: 'started', lost: [] });
    expect([await run().find(), await run().begin()]).toEqual([{ status: 'running' }, { status: 'running' }]);
    expect(await first.finish(RESPONSE)).toBe(true);
    expect([shown(await run().find()), shown(await run().begin())]).toEqual([REPLAY, REPLAY]);
  });

  test('is another one than that which came first, while that runs and after it', async () => {
    const run = openStore();
    const first = run();
    await first.begin();
    const other = run('other request');
    expect([await other.find(), await other.begin()]).toEqual([{ status: 'mismatch' }, { status: 'mismatch' }]);
    await first.finish(RESPONSE);
    expect([await other.find(), await other.begin()]).toEqual([{ status: 'mismatch' }, { status: 'mismatch' }]);
  });

  test.each([
    ['secret', 'other secret', 'scope'],
    ['scope', 'secret', 'other scope'],
  ])('is known under its own %s alone', async (_, secret, scope) => {
    const run = openStore();
    await run().begin();
    expect(await run('other request', secret, scope).begin()).toEqual({ status: 'started', lost: [] });
  });

  test('that is released may begin anew, and no other in its place', async () => {
    const run = openStore();
    const first = run();
    await first.begin();
    expect(await first.release()).toBe(true);
    expect(await run('other request').begin()).toEqual({ status: 'mismatch' });
    expect(await run().begin()).toEqual({ status: 'started', lost: [] });
    expect(await first.finish(RESPONSE)).toBe(false);
  });

  test('that is abandoned is as if it had not begun', async () => {
    const run = openStore();
    const first = run();
    await first.begin();
    expect(await first.abandon()).toBe(true);
    expect(await run('other request').begin()).toEqual({ status: 'started', lost: [] });
    expect([await first.abandon(), await first.release()]).toEqual([false, false]);
  });
});
