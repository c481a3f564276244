import { createHmac, createSecretKey, hkdfSync } from 'node:crypto';
import type { ResponseKeyStore } from '../../storage/idempotency/response-keys.js';

/** What a response of a call is sealed with in the place of a secret that tells whose it is. */
export interface ResponseSecrets {
  /** The first seals, and all open. */
  of(secret: string): readonly string[];
  /** To be called when something was sealed: the database remembers the key of that for as long as responses are kept. */
  sealed(): void;
  /** To be called when nothing opens what was kept: warns once of each key that is not given, so that nobody looks for an outage of the database. */
  notOpened(): void;
  /** Begins to look for such keys, and warns of them in the same way. */
  begin(): void;
  /** Resolves when nothing of that is under way. */
  ended(): Promise<void>;
}

/** What {@link createResponseSecrets} works with. */
export interface ResponseSecretsParts {
  /** As they are given to `createGateway`; without any a secret stands for itself. */
  readonly secretsKeys: readonly string[];
  /** Made of the same keys: the id of the first, and whether there is one with an id. */
  readonly box: { readonly keyId: string | undefined; has(keyId: string): boolean };
  readonly store: Pick<ResponseKeyStore, 'note' | 'inUse'>;
  readonly onFault: (error: unknown) => void;
  readonly now: () => number;
}

const USE = 'tollhouse kept responses';
const KEY_BYTES = 32;
/** A write for each response would cost more than what it tells. */
const NOTED_EVERY_MS = 60_000;
const CODE = 'TOLLHOUSE_SECRETS_KEY';
const CONSEQUENCE =
  'whoever asks for one of them again gets 503 store_unavailable, though the database is well, until SECRETS_KEY (option "secretsKey") ' +
  'has that key on all instances, behind the present one, separated by a comma; after a day they are kept no longer';

/**
 * Mixes the keys that the database does not hold into what responses are sealed with: an `Idempotency-Key` may be one that can be
 * guessed, and not every payment brings a secret. What was sealed before there was a key is opened as well.
 */
export function createResponseSecrets({
  secretsKeys,
  box,
  store,
  onFault,
  now,
}: ResponseSecretsParts): ResponseSecrets {
  const keys = secretsKeys.map((it) => createSecretKey(Buffer.from(hkdfSync('sha256', it, '', USE, KEY_BYTES))));
  const underWay = new Set<Promise<void>>();
  const told = new Set<string>();
  let notedAt = Number.NEGATIVE_INFINITY;

  function inBackground(work: Promise<void>): void {
    const done = work.catch(onFault).finally(() => underWay.delete(done));
    underWay.add(done);
  }

  function tellOnce(key: string, text: string): void {
    if (!told.has(key)) process.emitWarning(text, { code: CODE });
    told.add(key);
  }

  /** Warns of keys that are missing here; answers whether there are any. */
  async function look(): Promise<boolean> {
    const missing = (await store.inUse()).filter((id) => !box.has(id));
    for (const id of missing) {
      tellOnce(id, `responses of calls are kept under a SECRETS_KEY that is not given here (id ${id}): ${CONSEQUENCE}`);
    }
    return missing.length > 0;
  }

  async function lookForUnknown(): Promise<void> {
    if (await look()) return;
    tellOnce(
      '',
      `a response of a call was kept under a SECRETS_KEY that is not given here, or changed: ${CONSEQUENCE}`,
    );
  }

  return {
    of: (secret) => [...keys.map((key) => createHmac('sha256', key).update(secret).digest('base64url')), secret],
    sealed() {
      const { keyId } = box;
      const at = now();
      if (keyId === undefined || at - notedAt < NOTED_EVERY_MS) return;
      notedAt = at;
      // Where that fails nothing is kept either.
      inBackground(store.note(keyId));
    },
    notOpened: () => inBackground(lookForUnknown()),
    begin: () => inBackground(look().then(() => undefined)),
    ended: async () => void (await Promise.all(underWay)),
  };
}
