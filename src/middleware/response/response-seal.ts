import { createCipheriv, createDecipheriv, createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { TollhouseError } from '../../errors/errors.js';
import { randomPart } from '../../lib/ids.js';

/** A response as it is kept. */
export interface StoredResponse {
  readonly statusCode: number;
  readonly statusMessage?: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Uint8Array;
  /** Of what part of the resource it is, as that was asked for; undefined where it is no part. */
  readonly range?: string | undefined;
  /** Scopes without which nobody is to see it; undefined where it takes none. */
  readonly neededScopes?: readonly string[] | undefined;
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
  /** @throws TollhouseError `store_unavailable` when it was not sealed by this, or was changed since */
  open(sealed: Uint8Array): StoredResponse;
  /** Encrypts a text, into one without spaces. */
  hide(text: string): string;
  /** @throws TollhouseError `store_unavailable` when it was not hidden by this, or was changed since */
  reveal(hidden: string): string;
}

/** What is sealed with in the place of a secret. */
export interface SealingSecrets {
  /** The first seals, and all open. */
  of(secret: string): readonly string[];
  /** Called when something was sealed. */
  sealed?(): void;
  /** Called when none of them has opened what was kept: it may be that one is missing here. */
  notOpened?(): void;
}

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
const LENGTH_BYTES = 4;

const ITSELF: SealingSecrets = { of: (secret) => [secret] };
const NOT_OPENED =
  'What is kept of this request cannot be opened here at the moment; nothing was charged for it now. Send it again later, and do not pay anew.';

/**
 * Derives from a secret what names it, marks requests and encrypts responses (HKDF-SHA-256, AES-256-GCM). What is sealed is as
 * safe as the secret is hard to guess.
 * @param scope - in which the secret counts; the same secret in another scope opens nothing
 * @param sealedWith - for what is sealed with more than the secret, and found by that alone. Default: the secret
 */
export function createSeal(scope: string, secret: string, sealedWith: SealingSecrets = ITSELF): ResponseSeal {
  const own = derive(scope, secret);
  const { name, marking } = own;
  // Most are never asked to open anything, and nothing else than the first has sealed.
  const keyOf = (it: string) => (it === secret ? own : derive(scope, it)).sealing;
  const seal = (bytes: Uint8Array) => {
    sealedWith.sealed?.();
    return encrypt(keyOf(sealedWith.of(secret)[0] ?? secret), bytes);
  };
  const open = (sealed: Uint8Array) => {
    const keys = sealedWith.of(secret).map((it) => () => keyOf(it));
    return decrypt(keys, sealed, () => sealedWith.notOpened?.());
  };
  return {
    id: name.toString('hex'),
    mark: (text) => createHmac('sha256', createSecretKey(marking)).update(text).digest('hex'),
    seal: (response) => seal(encode(response)),
    open: (sealed) => decode(open(sealed)),
    hide: (text) => seal(Buffer.from(text)).toString('base64url'),
    reveal: (hidden) => open(Buffer.from(hidden, 'base64url')).toString(),
  };
}

const INFO = 'tollhouse answer';
const KEY_BYTES = 32;

/** HKDF-SHA-256 (RFC 5869). What encrypts is a key object: with plain bytes Node 24 takes three times as long. */
function derive(scope: string, secret: string) {
  const bytes = Buffer.from(hkdfSync('sha256', secret, scope, INFO, 3 * KEY_BYTES));
  return {
    name: bytes.subarray(0, KEY_BYTES),
    marking: bytes.subarray(KEY_BYTES, 2 * KEY_BYTES),
    sealing: createSecretKey(bytes.subarray(2 * KEY_BYTES)),
  };
}

function encrypt(key: KeyObject, bytes: Uint8Array): Buffer {
  const sealed = Buffer.allocUnsafeSlow(IV_BYTES + TAG_BYTES + bytes.length);
  const iv = randomPart(IV_BYTES);
  iv.copy(sealed);
  const cipher = createCipheriv(CIPHER, key, iv);
  cipher.update(bytes).copy(sealed, IV_BYTES + TAG_BYTES);
  cipher.final();
  cipher.getAuthTag().copy(sealed, IV_BYTES);
  return sealed;
}

/** Tells of what no key opens as of a store that is away: what it holds is not to be had now, and nobody is to pay for it anew. */
function decrypt(keys: readonly (() => KeyObject)[], sealed: Uint8Array, failed: () => void): Buffer {
  let cause: unknown;
  for (const key of keys) {
    try {
      return decryptWith(key(), sealed);
    } catch (error) {
      cause = error;
    }
  }
  failed();
  throw new TollhouseError('store_unavailable', NOT_OPENED, { cause });
}

function decryptWith(key: KeyObject, sealed: Uint8Array): Buffer {
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
}

/** Length of the head, the head as JSON, the body. */
function encode({ body, ...rest }: StoredResponse): Uint8Array {
  const head = JSON.stringify(rest);
  const headBytes = Buffer.byteLength(head);
  const bytes = Buffer.allocUnsafe(LENGTH_BYTES + headBytes + body.length);
  bytes.writeUInt32BE(headBytes);
  bytes.write(head, LENGTH_BYTES);
  bytes.set(body, LENGTH_BYTES + headBytes);
  return bytes;
}

function decode(bytes: Buffer): StoredResponse {
  const end = LENGTH_BYTES + bytes.readUInt32BE();
  const head: Omit<StoredResponse, 'body'> = JSON.parse(bytes.toString('utf8', LENGTH_BYTES, end));
  return { ...head, body: bytes.subarray(end) };
}
