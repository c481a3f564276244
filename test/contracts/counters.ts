import { type Counters, MAX_KEY_LENGTH } from '../../src/storage/counters/counters.js';

/** A store under test, and a way to let its time pass. */
export interface CountersUnderTest {
  readonly counters: Counters;
  /** Lets at least so many milliseconds pass on the store's clock. */
  advance(milliseconds: number): Promise<void>;
}

/** What every implementation of {@link Counters} must do. */
export function countersContract(name: string, open: () => Promise<CountersUnderTest>): void {
  describe(`${name} keeps the contract of Counters`, () => {
    let counters: Counters;
    let advance: CountersUnderTest['advance'];

    beforeEach(async () => {
      ({ counters, advance } = await open());
    });
    afterEach(() => counters.close());

    marksContract(
      () => counters,
      (ms) => advance(ms),
    );
    valuesContract(
      () => counters,
      (ms) => advance(ms),
    );
    countsContract(
      () => counters,
      (ms) => advance(ms),
    );

    test('a mark, a value and a count of one key are three things', async () => {
      await counters.takeOnce('a:1', 5_000);
      expect(await counters.get('a:1')).toBeUndefined();
      await counters.put('a:1', 'value', 5_000);
      expect((await counters.increment('a:1', 5_000)).count).toBe(1);
      await counters.remove('a:1');
      await counters.reset('a:1');
      expect(await counters.anyTaken(['a:1'])).toBe(true);
    });

    test('the longest key is a key like any other', async () => {
      const [one, other] = ['x', 'y'].map((last) => `a:${'k'.repeat(MAX_KEY_LENGTH - 3)}${last}`) as [string, string];
      expect(await counters.takeOnce(one, 5_000)).toBe(true);
      expect(await counters.takeOnce(other, 5_000)).toBe(true);
      expect(await counters.takeOnce(one, 5_000)).toBe(false);
    });
  });
}

type Advance = CountersUnderTest['advance'];

function marksContract(counters: () => Counters, advance: Advance): void {
  test('of many callers at once exactly one takes a key', async () => {
    const taken = await Promise.all(Array.from({ length: 50 }, () => counters().takeOnce('nonce:1', 5_000)));
    expect(taken.filter(Boolean)).toHaveLength(1);
    expect(await counters().takeOnce('nonce:1', 5_000)).toBe(false);
    expect(await counters().takeOnce('nonce:2', 5_000)).toBe(true);
  });

  test('a mark lives for its time and no longer; a second attempt does not prolong it', async () => {
    await counters().takeOnce('nonce:1', 5_000);
    await advance(4_000);
    expect(await counters().takeOnce('nonce:1', 5_000)).toBe(false);
    await advance(1_001);
    expect(await counters().anyTaken(['nonce:1'])).toBe(false);
    expect(await counters().takeOnce('nonce:1', 5_000)).toBe(true);
  });

  test('one marked key among several is found; case counts', async () => {
    await counters().takeOnce('denied:aB', 5_000);
    expect(await counters().anyTaken(['denied:x', 'denied:aB'])).toBe(true);
    expect(await counters().anyTaken(['denied:x', 'denied:ab'])).toBe(false);
    expect(await counters().anyTaken([])).toBe(false);
  });
}

function valuesContract(counters: () => Counters, advance: Advance): void {
  test('a value is kept as it is, until its time is over', async () => {
    const value = JSON.stringify({ text: 'ünï\n"code" \u0000 🔑', list: [1, 2] });
    await counters().put('session:1', value, 5_000);
    expect(await counters().get('session:1')).toBe(value);
    await advance(5_001);
    expect(await counters().get('session:1')).toBeUndefined();
  });

  test('a later value replaces an earlier one, and its time', async () => {
    await counters().put('session:1', 'first', 5_000);
    await advance(4_000);
    await counters().put('session:1', 'second', 5_000);
    await advance(4_000);
    expect(await counters().get('session:1')).toBe('second');
  });

  test('of many who replace the same value exactly one does', async () => {
    await counters().put('session:1', 'old', 5_000);
    const attempts = Array.from({ length: 20 }, (_, at) => counters().replace('session:1', 'old', `new ${at}`, 5_000));
    const done = await Promise.all(attempts);
    expect(done.filter(Boolean)).toHaveLength(1);
    expect(await counters().get('session:1')).toBe(`new ${done.indexOf(true)}`);
  });

  test('of many who put a value where there is none, or none any more, exactly one does', async () => {
    for (const round of [1, 2]) {
      const attempts = Array.from({ length: 20 }, (_, at) => counters().replace('word:1', undefined, `${at}`, 5_000));
      const done = await Promise.all(attempts);
      expect([round, done.filter(Boolean).length]).toEqual([round, 1]);
      expect(await counters().get('word:1')).toBe(`${done.indexOf(true)}`);
      await advance(5_001);
    }
    await counters().put('word:1', 'value', 5_000);
    expect(await counters().replace('word:1', undefined, 'other', 5_000)).toBe(false);
    await counters().remove('word:1');
    expect(await counters().replace('word:1', undefined, 'other', 5_000)).toBe(true);
    expect(await counters().get('word:1')).toBe('other');
  });

  test('what is not there, or no longer, is not replaced', async () => {
    expect(await counters().replace('session:1', 'old', 'new', 5_000)).toBe(false);
    await counters().put('session:1', 'old', 5_000);
    await advance(5_001);
    expect(await counters().replace('session:1', 'old', 'new', 5_000)).toBe(false);
    expect(await counters().get('session:1')).toBeUndefined();
  });

  test('a removed value is gone', async () => {
    await counters().put('session:1', 'value', 5_000);
    await counters().remove('session:1');
    await counters().remove('session:2');
    expect(await counters().get('session:1')).toBeUndefined();
    expect(await counters().replace('session:1', 'value', 'new', 5_000)).toBe(false);
  });
}

function countsContract(counters: () => Counters, advance: Advance): void {
  test('every call is counted once, in one window', async () => {
    const windows = await Promise.all(Array.from({ length: 30 }, () => counters().increment('limit:a', 5_000)));
    const sorted = windows.map(({ count }) => count).sort((one, other) => one - other);
    expect(sorted).toEqual(Array.from({ length: 30 }, (_, at) => at + 1));
    expect(new Set(windows.map(({ resetsAt }) => resetsAt)).size).toBe(1);
  });

  test('a window is not moved by later calls, and begins anew after its end', async () => {
    const first = await counters().increment('limit:a', 5_000);
    await advance(3_000);
    expect(await counters().increment('limit:a', 5_000)).toEqual({ count: 2, resetsAt: first.resetsAt });
    await advance(2_001);
    const next = await counters().increment('limit:a', 5_000);
    expect(next.count).toBe(1);
    expect(next.resetsAt).toBeGreaterThan(first.resetsAt);
  });

  test('as many are counted as are said, in the same window, and no fewer when many come at once', async () => {
    const first = await counters().increment('limit:a', 5_000, 1_000);
    expect(first.count).toBe(1_000);
    await Promise.all(Array.from({ length: 10 }, () => counters().increment('limit:a', 5_000, 10_000_000_000)));
    expect(await counters().increment('limit:a', 5_000)).toEqual({ count: 100_000_001_001, resetsAt: first.resetsAt });
    await advance(5_001);
    expect((await counters().increment('limit:a', 5_000, 7)).count).toBe(7);
  });

  test('one taken back is not counted, and there is no less than none', async () => {
    await counters().increment('limit:a', 5_000);
    for (let round = 0; round < 3; round += 1) await counters().decrement('limit:a');
    expect((await counters().increment('limit:a', 5_000)).count).toBe(1);
    await counters().decrement('limit:b');
    expect((await counters().increment('limit:b', 5_000)).count).toBe(1);
  });

  test('a reset count begins anew', async () => {
    await counters().increment('limit:a', 5_000);
    await counters().reset('limit:a');
    expect((await counters().increment('limit:a', 5_000)).count).toBe(1);
  });
}
