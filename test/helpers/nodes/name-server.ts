import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';

/** What a name server says of a name: its addresses of a kind, nothing at all, or (undefined) that there is no such name. */
export type NameAnswer = readonly string[] | 'silent' | undefined;

/** A real name server on this machine. */
export interface NameServer {
  /** Address and port, as resolvers take them. */
  readonly address: string;
  /** The names that were asked for, with their kind, such as `shop.test A`; each time that they were. */
  readonly asked: readonly string[];
  /** Answers what it was silent of, as it now would. */
  speak(): void;
  close(): void;
}

const HEADER_BYTES = 12;
const TYPES: Readonly<Record<number, 'A' | 'AAAA'>> = { 1: 'A', 28: 'AAAA' };

/** Starts one, which says what it is told to say. */
export async function startNameServer(say: (name: string, type: 'A' | 'AAAA') => NameAnswer): Promise<NameServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  let held: (() => void)[] = [];
  socket.on('message', (query, { port, address }: RemoteInfo) => {
    const { name, type, end } = questionOf(query);
    const kind = TYPES[type] ?? 'A';
    asked.push(`${name} ${kind}`);
    const answer = () => {
      const said = say(name, kind);
      if (said === 'silent') held.push(answer);
      else socket.send(answerTo(query.subarray(0, end), type, said), port, address);
    };
    answer();
  });
  const speak = () => {
    const before = held;
    held = [];
    for (const answer of before) answer();
  };
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { address: `127.0.0.1:${socket.address().port}`, asked, speak, close: () => void socket.close() };
}

function questionOf(query: Buffer): { readonly name: string; readonly type: number; readonly end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function answerTo(question: Buffer, type: number, addresses: readonly string[] | undefined): Buffer {
  const records = (addresses ?? []).map((it) => recordOf(type, it));
  const answer = Buffer.concat([question, ...records]);
  answer.writeUInt16BE(addresses === undefined ? 0x8183 : 0x8180, 2);
  answer.writeUInt16BE(records.length, 6);
  answer.writeUInt32BE(0, 8);
  return answer;
}

/** Of the name that was asked for, for no time. */
function recordOf(type: number, address: string): Buffer {
  const bytes = type === 1 ? address.split('.').map(Number) : [...Buffer.from(address.replaceAll(':', ''), 'hex')];
  return Buffer.from([0xc0, HEADER_BYTES, 0, type, 0, 1, 0, 0, 0, 0, 0, bytes.length, ...bytes]);
}
