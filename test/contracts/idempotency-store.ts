import { randomUUID } from 'node:crypto';
import {
  type IdempotencyStore,
  type IdempotentRun,
  RESPONSE_RETENTION_MS,
} from '../../src/storage/idempotency/idempotency-store.js';

/** A store under test, and a way to let its time pass. */
export interface ResponsesUnderTest {
  readonly store: IdempotencyStore;
  advance(milliseconds: number): Promise<void>;
  close(): Promise<void>;
}

const LEASE_MS = 5_000;

/** A run of its own; by default every one has another id. */
export function newRun(change: Partial<IdempotentRun> = {}): IdempotentRun {
  return { id: randomUUID(), fingerprint: 'first', lease: randomUUID(), leaseMs: LEASE_MS, ...change };
}

/** What every implementation of {@link IdempotencyStore} must do. */
export function idempotencyStoreContract(name: string, open: () => Promise<ResponsesUnderTest>): void {
  describe(`${name} keeps the contract of IdempotencyStore`, () => {
    let store: IdempotencyStore;
    let fixture: ResponsesUnderTest;

    beforeEach(async () => {
      fixture = await open();
      ({ store } = fixture);
    });
    afterEach(() => fixture.close());

    runsContract(
      () => store,
      (ms) => fixture.advance(ms),
    );
    keepingContract(
      () => store,
      (ms) => fixture.advance(ms),
    );
    puttingContract(
      () => store,
      (ms) => fixture.advance(ms),
    );
  });
}

const bytes = (text: string) => Buffer.from(text);
const replayOf = (text: string) => ({ status: 'replay', response: expect.objectContaining({ length: text.length }) });

function runsContract(store: () => IdempotencyStore, advance: ResponsesUnderTest['advance']): void {
  test('of many that begin the same at once exactly one runs', async () => {
    const { id } = newRun();
    const begun = await Promise.all(Array.from({ length: 30 }, () => store().begin(newRun({ id }))));
    expect(begun.map(({ status }) => status).sort()).toEqual([...Array(29).fill('running'), 'started']);
  });

  test('another request under the same id is a mismatch, while the first runs and after it', async () => {
    const run = newRun();
    await store().begin(run);
    const other = newRun({ id: run.id, fingerprint: 'second' });
    expect(await store().begin(other)).toEqual({ status: 'mismatch' });
    await store().finish(run.id, run.lease, bytes('response'));
    expect(await store().begin(other)).toEqual({ status: 'mismatch' });
    expect(await store().find(run.id, 'second')).toEqual({ status: 'mismatch' });
    expect(await store().begin(newRun({ fingerprint: 'second' }))).toEqual({ status: 'started' });
  });

  test('a run that crashed begins anew when its lease is over, for the same request only', async () => {
    const run = newRun();
    await store().begin(run);
    await advance(LEASE_MS - 1);
    expect(await store().find(run.id, run.fingerprint)).toEqual({ status: 'running' });
    expect(await store().begin(newRun({ id: run.id }))).toEqual({ status: 'running' });
    await advance(1);
    expect(await store().begin(newRun({ id: run.id, fingerprint: 'second' }))).toEqual({ status: 'mismatch' });
    expect(await store().find(run.id, run.fingerprint)).toEqual({ status: 'ended' });

    const next = newRun({ id: run.id });
    expect(await store().begin(next)).toEqual({ status: 'started', lease: next.lease });
    expect(await store().finish(run.id, run.lease, bytes('late'))).toBe(false);
    expect(await store().abandon(run.id, run.lease)).toBe(false);
    expect(await store().finish(run.id, next.lease, bytes('response'))).toBe(true);
    expect(await store().find(run.id, run.fingerprint)).toEqual(replayOf('response'));
  });

  test('a run that is held for longer is nobody else’s, however long it takes', async () => {
    const run = newRun();
    await store().begin(run);
    for (let n = 0; n < 3; n += 1) {
      await advance(LEASE_MS - 1);
      expect(await store().extend?.(run.id, run.lease, LEASE_MS)).toBe(true);
    }
    expect(await store().begin(newRun({ id: run.id }))).toEqual({ status: 'running' });
    expect(await store().extend?.(run.id, 'another lease', LEASE_MS)).toBe(false);
    expect(await store().finish(run.id, run.lease, bytes('response'))).toBe(true);
    expect(await store().extend?.(run.id, run.lease, LEASE_MS)).toBe(false);
    expect(await store().find(run.id, run.fingerprint)).toEqual(replayOf('response'));
  });

  test('a run is held for longer than what is kept is kept', async () => {
    const run = newRun();
    await store().begin(run);
    await advance(RESPONSE_RETENTION_MS - 1);
    expect(await store().extend?.(run.id, run.lease, 2 * LEASE_MS)).toBe(true);
    await advance(LEASE_MS);
    expect(await store().begin(newRun({ id: run.id }))).toEqual({ status: 'running' });
    expect(await store().finish(run.id, run.lease, bytes('response'))).toBe(true);
  });

  test('a run whose lease is over is held for longer where nobody has taken it over, and not where somebody has', async () => {
    const run = newRun();
    await store().begin(run);
    await advance(LEASE_MS);
    expect(await store().extend?.(run.id, run.lease, LEASE_MS)).toBe(true);
    expect(await store().find(run.id, run.fingerprint)).toEqual({ status: 'running' });
    await advance(LEASE_MS);
    const next = newRun({ id: run.id });
    expect(await store().begin(next)).toEqual({ status: 'started', lease: next.lease });
    expect(await store().extend?.(run.id, run.lease, LEASE_MS)).toBe(false);
    expect(await store().extend?.(run.id, next.lease, LEASE_MS)).toBe(true);
  });

  test('a released run is for the same request only, at once', async () => {
    const run = newRun();
    await store().begin(run);
    expect(await store().release(run.id, 'another lease')).toBe(false);
    expect(await store().find(run.id, 'first')).toEqual({ status: 'running' });
    expect(await store().release(run.id, run.lease)).toBe(true);
    expect(await store().find(run.id, 'first')).toEqual({ status: 'ended' });
    expect(await store().find(run.id, 'second')).toEqual({ status: 'mismatch' });
    expect(await store().begin(newRun({ id: run.id, fingerprint: 'second' }))).toEqual({ status: 'mismatch' });
    const next = newRun({ id: run.id });
    expect(await store().begin(next)).toEqual({ status: 'started', lease: next.lease });
    expect(await store().finish(run.id, run.lease, bytes('late'))).toBe(false);
  });

  test('what a run has noted behind its lease is handed on to each that takes it over, however many there are', async () => {
    const [first, third] = [newRun(), newRun()].map((run, n) => ({
      ...run,
      id: 'noted',
      lease: `lease${n} took ${n}`,
    }));
    const second = newRun({ id: 'noted' });
    expect(await store().begin(first!)).toEqual({ status: 'started' });
    await advance(LEASE_MS);
    const lease = `${second.lease} took 0`;
    expect(await store().begin(second)).toEqual({ status: 'started', lease });
    expect(await store().release('noted', second.lease)).toBe(false);
    expect(await store().release('noted', lease)).toBe(true);
    expect(await store().begin(third!)).toEqual({ status: 'started', lease: 'lease1 took 1 took 0' });
    expect(await store().finish('noted', 'lease1 took 1 took 0', bytes('response'))).toBe(true);
    expect(await store().begin(newRun({ id: 'noted' }))).toEqual(replayOf('response'));
  });

  test('an abandoned run leaves nothing behind', async () => {
    const run = newRun();
    await store().begin(run);
    expect(await store().abandon(run.id, run.lease)).toBe(true);
    expect(await store().find(run.id, run.fingerprint)).toBeUndefined();
    expect(await store().abandon(run.id, run.lease)).toBe(false);
    expect(await store().finish(run.id, run.lease, bytes('late'))).toBe(false);
    expect(await store().begin(newRun({ id: run.id, fingerprint: 'second' }))).toEqual({ status: 'started' });
  });
}

const PAYLOADS = [
  ['of every byte', Uint8Array.from({ length: 256 }, (_, at) => at)],
  ['of none', new Uint8Array()],
  ['of a megabyte', new Uint8Array(1_048_576).fill(7)],
] as const;

function keepingContract(store: () => IdempotencyStore, advance: ResponsesUnderTest['advance']): void {
  test.each(PAYLOADS)('a response %s comes back as it was kept, to whoever begins or looks', async (_, response) => {
    const run = newRun();
    await store().begin(run);
    expect(await store().finish(run.id, run.lease, response)).toBe(true);
    for (const known of [await store().find(run.id, 'first'), await store().begin(newRun({ id: run.id }))]) {
      if (known?.status !== 'replay') throw new Error(`${known?.status} is no replay`);
      expect(Buffer.from(known.response).equals(response)).toBe(true);
    }
  });

  test('what was answered stays so: neither finished again nor abandoned', async () => {
    const run = newRun();
    await store().begin(run);
    await store().finish(run.id, run.lease, bytes('response'));
    expect(await store().finish(run.id, run.lease, bytes('another'))).toBe(false);
    expect(await store().abandon(run.id, run.lease)).toBe(false);
    await advance(LEASE_MS * 2);
    expect(await store().begin(newRun({ id: run.id }))).toEqual(replayOf('response'));
  });

  test('a response is kept for 24 hours; then the id is free for any request', async () => {
    const run = newRun();
    await store().begin(run);
    await store().finish(run.id, run.lease, bytes('response'));
    await advance(RESPONSE_RETENTION_MS - 1);
    expect(await store().find(run.id, 'first')).toEqual(replayOf('response'));
    await advance(2);
    expect(await store().find(run.id, 'first')).toBeUndefined();
    expect(await store().begin(newRun({ id: run.id, fingerprint: 'second' }))).toEqual({ status: 'started' });
    expect(await store().find(run.id, 'second')).toEqual({ status: 'running' });
  });
}

function puttingContract(store: () => IdempotencyStore, advance: ResponsesUnderTest['advance']): void {
  /** What was put under an id, as text. */
  async function textOf(id: string): Promise<string | undefined> {
    const response = await store().get(id);
    return response && Buffer.from(response).toString();
  }

  test.each(PAYLOADS)('a response %s that was put comes back as it was', async (_, response) => {
    const { id } = newRun();
    await store().put(id, response);
    const kept = await store().get(id);
    expect(kept).toBeInstanceOf(Uint8Array);
    expect(Buffer.from(kept!).equals(response)).toBe(true);
    expect(await store().get(newRun().id)).toBeUndefined();
  });

  test('a part of a larger buffer is kept, and no byte beside it', async () => {
    const { id } = newRun();
    await store().put(id, Buffer.from('before|response|after').subarray(7, 15));
    expect(await textOf(id)).toBe('response');
  });

  test('what is put replaces what was put before, and is kept for 24 hours from then on', async () => {
    const { id } = newRun();
    await store().put(id, bytes('a first response, which is longer'));
    await advance(RESPONSE_RETENTION_MS - 1);
    expect(await textOf(id)).toBe('a first response, which is longer');
    await store().put(id, bytes('second'));
    await advance(RESPONSE_RETENTION_MS - 1);
    expect(await textOf(id)).toBe('second');
    await advance(2);
    expect(await textOf(id)).toBeUndefined();
    expect(await store().begin(newRun({ id }))).toEqual({ status: 'started' });
  });

  test('of many that put at once, one is kept, whole', async () => {
    const { id } = newRun();
    const texts = Array.from({ length: 20 }, (_, at) => `${at}`.repeat(1_000));
    await Promise.all(texts.map((text) => store().put(id, bytes(text))));
    expect(texts).toContain(await textOf(id));
  });

  test('what was put is nobody’s run: it cannot be begun, ended or taken for the response of one', async () => {
    const run = newRun();
    await store().put(run.id, bytes('response'));
    expect(await store().begin(run)).toEqual({ status: 'mismatch' });
    expect(await store().find(run.id, run.fingerprint)).toEqual({ status: 'mismatch' });
    for (const lease of [run.lease, '']) {
      expect(await store().finish(run.id, lease, bytes('another'))).toBe(false);
      expect(await store().release(run.id, lease)).toBe(false);
      expect(await store().abandon(run.id, lease)).toBe(false);
    }
    expect(await textOf(run.id)).toBe('response');
  });

  test('what is put under the id of a run replaces that, and who runs is told when it ends', async () => {
    const run = newRun();
    await store().begin(run);
    expect(await textOf(run.id)).toBeUndefined();
    await store().put(run.id, bytes('response'));
    expect(await textOf(run.id)).toBe('response');
    expect(await store().finish(run.id, run.lease, bytes('late'))).toBe(false);
    expect(await store().abandon(run.id, run.lease)).toBe(false);
    expect(await textOf(run.id)).toBe('response');
  });

  test('the response of a run is not handed out as one that was put, and is replaced by it', async () => {
    const run = newRun();
    await store().begin(run);
    await store().finish(run.id, run.lease, bytes('of the run'));
    expect(await textOf(run.id)).toBeUndefined();
    expect(await store().find(run.id, run.fingerprint)).toEqual(replayOf('of the run'));
    await store().put(run.id, bytes('response'));
    expect(await textOf(run.id)).toBe('response');
    expect(await store().find(run.id, run.fingerprint)).toEqual({ status: 'mismatch' });
  });
}
