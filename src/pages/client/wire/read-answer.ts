import { pause } from './send-request.js';

/**
 * All of an answer, which stays to be read; undefined where it is larger, or still comes after so many seconds: some never end. Time is
 * given to what has told its length.
 */
export async function wholeOf(answer: Response, mostBytes: number, seconds: number): Promise<Blob | undefined> {
  const reader = answer.clone().body?.getReader();
  const late = tellsLength(answer) ? undefined : pause(seconds).then(() => undefined);
  const parts: BlobPart[] = [];
  for (let size = 0; size <= mostBytes; ) {
    if (reader === undefined) return blobOf(parts, answer);
    const read = await (late === undefined ? reader.read() : Promise.race([reader.read(), late]));
    if (read === undefined) break;
    if (read.done) return blobOf(parts, answer);
    parts.push(read.value);
    size += read.value.length;
  }
  // It is kept waiting for the other branch, which is still to be read.
  reader?.cancel().catch(() => undefined);
  return undefined;
}

/** Whether an answer says how long it is, and so has an end. */
export function tellsLength({ headers }: Response): boolean {
  return headers.has('Content-Length');
}

/** What was read of an answer, of its type. */
export function blobOf(parts: BlobPart[], { headers }: Response): Blob {
  return new Blob(parts, { type: headers.get('Content-Type') ?? '' });
}
