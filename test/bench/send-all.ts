import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request } from 'undici';

/** A GET with its headers. */
export interface Outgoing {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const AGENT = new Agent({ connections: 256, pipelining: 1, headersTimeout: 120_000, bodyTimeout: 120_000 });

/** The golden ratio: its multiples fall evenly between whole numbers, however many there are. */
const GOLDEN = 0.618_033_988_749;

/**
 * Sends requests, at most `atOnce` at the same time, and answers how long each took, in milliseconds. Rejects when one is not
 * answered 200.
 */
export async function sendAll(requests: readonly Outgoing[], atOnce: number): Promise<readonly number[]> {
  return inParallel(requests, atOnce, async (outgoing) => {
    const begin = performance.now();
    await send(outgoing);
    return performance.now() - begin;
  });
}

/** One after the other, each at another moment between two slots. */
export async function sendSpread<Item>(
  items: readonly Item[],
  slotMs: number,
  work: (item: Item) => Promise<unknown>,
): Promise<readonly number[]> {
  const times: number[] = [];
  for (const [index, item] of items.entries()) {
    await pause(((index * GOLDEN) % 1) * slotMs);
    const begin = performance.now();
    await work(item);
    times.push(performance.now() - begin);
  }
  return times;
}

/** Sends one request. Rejects when it is not answered 200. */
export async function send({ url, headers }: Outgoing): Promise<void> {
  const answer = await request(url, { dispatcher: AGENT, headers });
  const body = await answer.body.text();
  if (answer.statusCode === 200) return;
  const said = [answer.headers['payment-required'], answer.headers['payment-response']].map(readable);
  throw new Error(`${url} answered ${answer.statusCode}: ${body.slice(0, 500)} ${said.join(' ')}`);
}

/** Works on items, at most `atOnce` at the same time; answers the results in the order in which they came. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const left = items[Symbol.iterator]();
  const worker = async () => {
    for (const item of left) results.push(await work(item));
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return results;
}

function readable(header: string | string[] | undefined): string {
  return Buffer.from(String(header ?? ''), 'base64').toString();
}
