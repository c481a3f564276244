/** What a blank line ends in a stream of events (WHATWG Server-sent events). */
export interface EventFrame {
  /** The id to go on after; undefined when the frame names none. */
  readonly id: string | undefined;
  /** What happened; undefined when the frame only names an id or a time. */
  readonly data: string | undefined;
  /** How long to wait before connecting again, in milliseconds; undefined when the frame does not say. */
  readonly retryMs: number | undefined;
}

/** Longer lines are no events of ours. */
const MAX_LINE = 1_048_576;

/**
 * Reads a stream of events. A frame that the end of the stream cuts off is left out.
 * @throws Error for a line that has no end
 */
export async function* readEventFrames(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<EventFrame> {
  let lines: string[] = [];
  for await (const line of linesOf(chunks)) {
    if (line !== '') lines.push(line);
    else if (lines.length > 0) {
      yield frameOf(lines);
      lines = [];
    }
  }
}

async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield line.replace(/\r$/, '');
    if (rest.length > MAX_LINE) throw new Error('a line of the stream has no end');
  }
}

function frameOf(lines: readonly string[]): EventFrame {
  const fields = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return colon < 0 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')];
  });
  const valuesOf = (name: string) => fields.filter(([field]) => field === name).map(([, value]) => value);
  const data = valuesOf('data');
  const retry = valuesOf('retry').find((value) => /^\d{1,9}$/.test(value));
  return {
    id: valuesOf('id').at(-1),
    data: data.length === 0 ? undefined : data.join('\n'),
    retryMs: retry === undefined ? undefined : Number(retry),
  };
}
