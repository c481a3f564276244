import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';

/** A response as it is kept. */
export interface StoredResponse {
  readonly statusCode: number;
  readonly statusMessage?: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Uint8Array;
}

/**
 * What a secret of the client's opens. A database that holds ids, fingerprints and sealed responses tells nothing about
 * any of them to whoever does not know the secret: responses may hold tokens and keys.
 */
export interface ResponseSeal {
  /** Names the secret in its scope. */
  readonly id: string;
  /** A text about a request, unreadable but the same for the same text. */
  mark(text: string): string;
  seal(response: StoredResponse): Uint8Array;
  /** @throws Error when it was not sealed by this, or was changed since */
  open(sealed: Uint8Array): StoredResponse;
}

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const LENGTH_BYTES = 4;

/**
 * Derives from a secret what names it, marks requests and encrypts responses (HKDF-SHA-256, AES-256-GCM). What is sealed is as
 * safe as the secret is hard to guess.
 * @param scope - in which the secret counts; the same secret in another scope opens nothing
 */
export function createSeal(scope: string, secret: string): ResponseSeal {
  const keys = Buffer.from(hkdfSync('sha256', secret, scope, 'tollhouse answer', KEY_BYTES * 3));
  const [name, marking, sealing] = [0, 1, 2].map((at) => keys.subarray(at * KEY_BYTES, (at + 1) * KEY_BYTES)) as [
    Buffer,
    Buffer,
    Buffer,
  ];
  return {
    id: name.toString('hex'),
    mark: (text) => createHmac('sha256', marking).update(text).digest('hex'),
    seal(response) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(CIPHER, sealing, iv);
      const text = Buffer.concat([cipher.update(encode(response)), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), text]);
    },
    open(sealed) {
      const decipher = createDecipheriv(CIPHER, sealing, sealed.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      return decode(Buffer.concat([decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]));
    },
  };
}

/** Length of the head, the head as JSON, the body. */
function encode({ body, ...rest }: StoredResponse): Uint8Array {
  const head = Buffer.from(JSON.stringify(rest));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(head.length);
  return Buffer.concat([length, head, body]);
}

function decode(bytes: Buffer): StoredResponse {
  const end = LENGTH_BYTES + bytes.readUInt32BE();
  const head: Omit<StoredResponse, 'body'> = JSON.parse(bytes.toString('utf8', LENGTH_BYTES, end));
  return { ...head, body: bytes.subarray(end) };
}
