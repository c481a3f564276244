import { randomUUID } from 'node:crypto';
import {
  type IdempotencyStore,
  type IdempotentRun,
  RESPONSE_RETENTION_MS,
} from '../../src/storage/idempotency/idempotency-store.js';

/** A store under test, and a way to let its time pass. */
export interface ResponsesUnderTest {
  readonly answers: IdempotencyStore;
  advance(milliseconds: number): Promise<void>;
  close(): Promise<void>;
}

const LEASE_MS = 5_000;

/** A run of its own; by default every one has another id. */
export function newRun(change: Partial<IdempotentRun> = {}): IdempotentRun {
  return { id: randomUUID(), fingerprint: 'first', lease: randomUUID(), leaseMs: LEASE_MS, ...change };
}

/** What every implementation of {@link IdempotencyStore} must do. */
export function answersContract(name: string, open: () => Promise<ResponsesUnderTest>): void {
  describe(`${name} keeps the contract of AnswerStore`, () => {
    let answers: IdempotencyStore;
    let stand: ResponsesUnderTest;

    beforeEach(async () => {
      stand = await open();
      ({ answers } = stand);
    });
    afterEach(() => stand.close());

    runsContract(
      () => answers,
      (ms) => stand.advance(ms),
    );
    keepingContract(
      () => answers,
      (ms) => stand.advance(ms),
    );
    puttingContract(
      () => answers,
      (ms) => stand.advance(ms),
    );
  });
}

const bytes = (text: string) => Buffer.from(text);
const replayOf = (text: string) => ({ status: 'replay', answer: expect.objectContaining({ length: text.length }) });

function runsContract(answers: () => IdempotencyStore, advance: ResponsesUnderTest['advance']): void {
  test('of many that begin the same at once exactly one runs', async () => {
    const { id } = newRun();
    const begun = await Promise.all(Array.from({ length: 30 }, () => answers().begin(newRun({ id }))));
    expect(begun.map(({ status }) => status).sort()).toEqual([...Array(29).fill('running'), 'started']);
  });

  test('another request under the same id is a mismatch, while the first runs and after it', async () => {
    const run = newRun();
    await answers().begin(run);
    const other = newRun({ id: run.id, fingerprint: 'second' });
    expect(await answers().begin(other)).toEqual({ status: 'mismatch' });
    await answers().finish(run.id, run.lease, bytes('answer'));
    expect(await answers().begin(other)).toEqual({ status: 'mismatch' });
    expect(await answers().find(run.id, 'second')).toEqual({ status: 'mismatch' });
    expect(await answers().begin(newRun({ fingerprint: 'second' }))).toEqual({ status: 'started' });
  });

  test('a run that crashed begins anew when its lease is over, for the same request only', async () => {
    const run = newRun();
    await answers().begin(run);
    await advance(LEASE_MS - 1);
    expect(await answers().find(run.id, run.fingerprint)).toEqual({ status: 'running' });
    expect(await answers().begin(newRun({ id: run.id }))).toEqual({ status: 'running' });
    await advance(1);
    expect(await answers().begin(newRun({ id: run.id, fingerprint: 'second' }))).toEqual({ status: 'mismatch' });
    expect(await answers().find(run.id, run.fingerprint)).toBeUndefined();

    const next = newRun({ id: run.id });
    expect(await answers().begin(next)).toEqual({ status: 'started' });
    expect(await answers().finish(run.id, run.lease, bytes('late'))).toBe(false);
    expect(await answers().abandon(run.id, run.lease)).toBe(false);
    expect(await answers().finish(run.id, next.lease, bytes('answer'))).toBe(true);
    expect(await answers().find(run.id, run.fingerprint)).toEqual(replayOf('answer'));
  });

  test('a released run is for the same request only, at once', async () => {
    const run = newRun();
    await answers().begin(run);
    expect(await answers().release(run.id, 'another lease')).toBe(false);
    expect(await answers().find(run.id, 'first')).toEqual({ status: 'running' });
    expect(await answers().release(run.id, run.lease)).toBe(true);
    expect(await answers().find(run.id, 'first')).toBeUndefined();
    expect(await answers().find(run.id, 'second')).toEqual({ status: 'mismatch' });
    expect(await answers().begin(newRun({ id: run.id, fingerprint: 'second' }))).toEqual({ status: 'mismatch' });
    expect(await answers().begin(newRun({ id: run.id }))).toEqual({ status: 'started' });
    expect(await answers().finish(run.id, run.lease, bytes('late'))).toBe(false);
  });

  test('an abandoned run leaves nothing behind', async () => {
    const run = newRun();
    await answers().begin(run);
    expect(await answers().abandon(run.id, run.lease)).toBe(true);
    expect(await answers().find(run.id, run.fingerprint)).toBeUndefined();
    expect(await answers().abandon(run.id, run.lease)).toBe(false);
    expect(await answers().finish(run.id, run.lease, bytes('late'))).toBe(false);
    expect(await answers().begin(newRun({ id: run.id, fingerprint: 'second' }))).toEqual({ status: 'started' });
  });
}

const PAYLOADS = [
  ['of every byte', Uint8Array.from({ length: 256 }, (_, at) => at)],
  ['of none', new Uint8Array()],
  ['of a megabyte', new Uint8Array(1_048_576).fill(7)],
] as const;

function keepingContract(answers: () => IdempotencyStore, advance: ResponsesUnderTest['advance']): void {
  test.each(PAYLOADS)('an answer %s comes back as it was kept, to whoever begins or looks', async (_, answer) => {
    const run = newRun();
    await answers().begin(run);
    expect(await answers().finish(run.id, run.lease, answer)).toBe(true);
    for (const known of [await answers().find(run.id, 'first'), await answers().begin(newRun({ id: run.id }))]) {
      if (known?.status !== 'replay') throw new Error(`${known?.status} is no replay`);
      expect(Buffer.from(known.response).equals(answer)).toBe(true);
    }
  });

  test('what was answered stays so: neither finished again nor abandoned', async () => {
    const run = newRun();
    await answers().begin(run);
    await answers().finish(run.id, run.lease, bytes('answer'));
    expect(await answers().finish(run.id, run.lease, bytes('another'))).toBe(false);
    expect(await answers().abandon(run.id, run.lease)).toBe(false);
    await advance(LEASE_MS * 2);
    expect(await answers().begin(newRun({ id: run.id }))).toEqual(replayOf('answer'));
  });

  test('an answer is kept for 24 hours; then the id is free for any request', async () => {
    const run = newRun();
    await answers().begin(run);
    await answers().finish(run.id, run.lease, bytes('answer'));
    await advance(RESPONSE_RETENTION_MS - 1);
    expect(await answers().find(run.id, 'first')).toEqual(replayOf('answer'));
    await advance(2);
    expect(await answers().find(run.id, 'first')).toBeUndefined();
    expect(await answers().begin(newRun({ id: run.id, fingerprint: 'second' }))).toEqual({ status: 'started' });
    expect(await answers().find(run.id, 'second')).toEqual({ status: 'running' });
  });
}

function puttingContract(answers: () => IdempotencyStore, advance: ResponsesUnderTest['advance']): void {
  /** What was put under an id, as text. */
  async function textOf(id: string): Promise<string | undefined> {
    const answer = await answers().get(id);
    return answer && Buffer.from(answer).toString();
  }

  test.each(PAYLOADS)('an answer %s that was put comes back as it was', async (_, answer) => {
    const { id } = newRun();
    await answers().put(id, answer);
    const kept = await answers().get(id);
    expect(kept).toBeInstanceOf(Uint8Array);
    expect(Buffer.from(kept!).equals(answer)).toBe(true);
    expect(await answers().get(newRun().id)).toBeUndefined();
  });

  test('a part of a larger buffer is kept, and no byte beside it', async () => {
    const { id } = newRun();
    await answers().put(id, Buffer.from('before|answer|after').subarray(7, 13));
    expect(await textOf(id)).toBe('answer');
  });

  test('what is put replaces what was put before, and is kept for 24 hours from then on', async () => {
    const { id } = newRun();
    await answers().put(id, bytes('a first answer, which is longer'));
    await advance(RESPONSE_RETENTION_MS - 1);
    expect(await textOf(id)).toBe('a first answer, which is longer');
    await answers().put(id, bytes('second'));
    await advance(RESPONSE_RETENTION_MS - 1);
    expect(await textOf(id)).toBe('second');
    await advance(2);
    expect(await textOf(id)).toBeUndefined();
    expect(await answers().begin(newRun({ id }))).toEqual({ status: 'started' });
  });

  test('of many that put at once, one is kept, whole', async () => {
    const { id } = newRun();
    const texts = Array.from({ length: 20 }, (_, at) => `${at}`.repeat(1_000));
    await Promise.all(texts.map((text) => answers().put(id, bytes(text))));
    expect(texts).toContain(await textOf(id));
  });

  test('what was put is nobody’s run: it cannot be begun, ended or taken for the answer of one', async () => {
    const run = newRun();
    await answers().put(run.id, bytes('answer'));
    expect(await answers().begin(run)).toEqual({ status: 'mismatch' });
    expect(await answers().find(run.id, run.fingerprint)).toEqual({ status: 'mismatch' });
    for (const lease of [run.lease, '']) {
      expect(await answers().finish(run.id, lease, bytes('another'))).toBe(false);
      expect(await answers().release(run.id, lease)).toBe(false);
      expect(await answers().abandon(run.id, lease)).toBe(false);
    }
    expect(await textOf(run.id)).toBe('answer');
  });

  test('what is put under the id of a run replaces that, and who runs is told when it ends', async () => {
    const run = newRun();
    await answers().begin(run);
    expect(await textOf(run.id)).toBeUndefined();
    await answers().put(run.id, bytes('answer'));
    expect(await textOf(run.id)).toBe('answer');
    expect(await answers().finish(run.id, run.lease, bytes('late'))).toBe(false);
    expect(await answers().abandon(run.id, run.lease)).toBe(false);
    expect(await textOf(run.id)).toBe('answer');
  });

  test('the answer of a run is not handed out as one that was put, and is replaced by it', async () => {
    const run = newRun();
    await answers().begin(run);
    await answers().finish(run.id, run.lease, bytes('of the run'));
    expect(await textOf(run.id)).toBeUndefined();
    expect(await answers().find(run.id, run.fingerprint)).toEqual(replayOf('of the run'));
    await answers().put(run.id, bytes('answer'));
    expect(await textOf(run.id)).toBe('answer');
    expect(await answers().find(run.id, run.fingerprint)).toEqual({ status: 'mismatch' });
  });
}
