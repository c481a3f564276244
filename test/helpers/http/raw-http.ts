import { connect, type Socket } from 'node:net';

/** A response as it came over a connection. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** A connection to the host of an address; its errors are not told, its end is. */
export function openSocket(url: string): Socket {
  const { hostname, port } = new URL(url);
  return connect(Number(port), hostname).on('error', () => undefined);
}

/** A request as its bytes are, one Latin-1 character each: nothing is tidied up. `Host` comes by itself, the one that `fetch` writes: payments are for that. */
export function rawRequest(line: string, headers: readonly string[] = [], body = ''): string {
  return [`${line} HTTP/1.1`, 'Host: 127.0.0.1', ...headers, '', body].join('\r\n');
}

/** The lines of header fields. */
export function linesOf(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
}

/** Sends one request and answers what is said to it; the connection ends with that. */
export async function ask(url: string, line: string, headers: readonly string[] = [], body = ''): Promise<RawResponse> {
  const [answer, ...more] = await exchange(url, rawRequest(line, ['Connection: close', ...headers], body));
  if (answer === undefined || more.length > 0)
    throw new Error(`${line} was answered ${more.length} times more than once`);
  return answer;
}

/** Sends bytes on a connection of their own, and answers what is said until it ends, which the bytes must bring about. */
export async function exchange(url: string, bytes: string): Promise<RawResponse[]> {
  const socket = openSocket(url);
  const heard = collect(socket);
  socket.write(bytes, 'latin1');
  return answersIn(await heard);
}

/** Everything that comes over a connection until it ends, one Latin-1 character for each byte. */
export function collect(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  return new Promise((resolve) => void socket.once('close', () => resolve(Buffer.concat(chunks).toString('latin1'))));
}

/** Reads the responses on a connection, one after the other. */
export function answersIn(text: string): RawResponse[] {
  const answers: RawResponse[] = [];
  let rest = text;
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n');
    const [line = '', ...lines] = rest.slice(0, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(line)?.[1]);
    if (end < 0 || Number.isNaN(status)) throw new Error(`no answer begins with ${JSON.stringify(rest.slice(0, 80))}`);
    const headers = new Headers(lines.map((it) => [it.slice(0, it.indexOf(':')), it.slice(it.indexOf(':') + 1)]));
    const [body, after] = bodyIn(rest.slice(end + 4), headers);
    answers.push({ status, headers, body: Buffer.from(body, 'latin1').toString() });
    rest = after;
  }
  return answers;
}

function bodyIn(text: string, headers: Headers): readonly [body: string, rest: string] {
  if (headers.get('transfer-encoding') !== 'chunked') {
    const length = Number(headers.get('content-length') ?? 0);
    return [text.slice(0, length), text.slice(length)];
  }
  let body = '';
  let rest = text;
  for (;;) {
    const end = rest.indexOf('\r\n');
    const size = Number.parseInt(rest.slice(0, end), 16);
    body += rest.slice(end + 2, end + 2 + size);
    rest = rest.slice(end + 2 + size + 2);
    if (!(size > 0)) return [body, rest];
  }
}
