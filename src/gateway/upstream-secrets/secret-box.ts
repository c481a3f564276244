import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { badOption, TollhouseError } from '../../errors/errors.js';

/** Encrypts what owners entrust to the gateway, so that a copy of the database tells nothing of it. */
export interface SecretBox {
  /** Id of the key that is encrypted with; undefined where there is none. */
  readonly keyId: string | undefined;
  /** Whether there is a key with this id. */
  has(keyId: string): boolean;
  /**
   * Encrypts a text for one place, with a nonce of its own; elsewhere it cannot be opened.
   * @throws TollhouseError `secrets_key_missing` without a key
   */
  seal(text: string, place: string): string;
  /**
   * The text again.
   * @throws TollhouseError `secrets_key_unknown` where its key is not there, or it is not what was sealed for this place
   */
  open(sealed: string, place: string): string;
}

interface BoxKey {
  readonly id: string;
  readonly key: KeyObject;
}

/** Shortest secret that keys are derived from, in bytes. */
export const MIN_SECRETS_KEY_BYTES = 32;

const FORM = 'sealed1';
const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const ID_DIGITS = 16;
const USE = 'tollhouse upstream secrets';

const NO_KEY =
  'This server has no key to encrypt secrets of upstreams with, and keeps none unencrypted. Its operator sets SECRETS_KEY ' +
  '(option "secretsKey" of createGateway), at least 32 bytes: openssl rand -base64 32.';
const UNKNOWN =
  'The secrets of this upstream cannot be opened here: the operator gives SECRETS_KEY the key that they were encrypted with, ' +
  'behind the present one, or the owner sets them anew. Nothing was charged.';

/**
 * Makes a box of secrets, each at least 32 bytes: the first encrypts, all decrypt (AES-256-GCM, with keys derived by HKDF-SHA-256).
 * The id of a key stands before what it has encrypted and tells nothing about it.
 * @throws TollhouseError `bad_option` for a secret that is too short
 */
export function createSecretBox(where: string, secrets: readonly string[]): SecretBox {
  if (secrets.some((it) => Buffer.byteLength(it) < MIN_SECRETS_KEY_BYTES)) {
    const detail = `option "secretsKey" must be at least ${MIN_SECRETS_KEY_BYTES} bytes long; make one with "openssl rand -base64 32"`;
    throw badOption(where, detail, 'secretsKey');
  }
  const keys = secrets.map(deriveKey);
  const [current] = keys;
  return {
    keyId: current?.id,
    has: (keyId) => keys.some(({ id }) => id === keyId),
    seal(text, place) {
      if (current === undefined) throw new TollhouseError('secrets_key_missing', NO_KEY);
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, current.key, nonce).setAAD(bound(place, current.id));
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return [FORM, current.id, Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')].join('.');
    },
    open(sealed, place) {
      const key = keys.find(({ id }) => id === keyIdOf(sealed));
      if (key === undefined) throw new TollhouseError('secrets_key_unknown', UNKNOWN);
      try {
        return opened(sealed, key, place);
      } catch (cause) {
        throw new TollhouseError('secrets_key_unknown', UNKNOWN, { cause });
      }
    },
  };
}

/** The id of the key that a text was sealed with; undefined where it is no sealed text. */
export function keyIdOf(sealed: string): string | undefined {
  const [form, id] = sealed.split('.');
  return form === FORM ? id : undefined;
}

function deriveKey(secret: string): BoxKey {
  const derived = (what: string) => Buffer.from(hkdfSync('sha256', secret, '', `${USE}, ${what}`, KEY_BYTES));
  const id = createHash('sha256').update(derived('name')).digest('hex').slice(0, ID_DIGITS);
  return { id, key: createSecretKey(derived('key')) };
}

function opened(sealed: string, { id, key }: BoxKey, place: string): string {
  const bytes = Buffer.from(sealed.slice(FORM.length + id.length + 2), 'base64url');
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(bound(place, id));
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  return decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
}

function bound(place: string, keyId: string): Buffer {
  return Buffer.from(`${FORM} ${keyId} ${place}`);
}
