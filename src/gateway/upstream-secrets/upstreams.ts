import { TollhouseError } from '../../errors/errors.js';
import type { ProjectSecretsStore } from '../../storage/projects/project-secrets.js';
import type { ProjectRecord } from '../../storage/projects/projects.js';
import type { UpstreamAdditions } from '../proxy/upstream-additions.js';
import { hasAdditions, openAdditions, resealUpstream } from './sealed-additions.js';
import type { SecretBox } from './secret-box.js';

type Sealed = Pick<ProjectRecord, 'id' | 'upstream'>;

/** What owners add to the calls of their upstreams. */
export interface Upstreams {
  /**
   * What is added to the calls of a project, as plain text: for one call, and to be kept nowhere.
   * @throws TollhouseError `secrets_key_unknown`
   */
  additions(project: Sealed): UpstreamAdditions;
  /**
   * Refuses a project whose secrets cannot be opened here, before anything is paid.
   * @throws TollhouseError `secrets_key_unknown`
   */
  require(project: Sealed): void;
  /** Rejects with `bad_option` when the database holds secrets that none of the keys opens. */
  check(): Promise<void>;
  /** Checks, and encrypts anew what is under older keys, so that these can be given up. Rejects as {@link check}. */
  begin(): Promise<void>;
  /** Resolves when nothing of that is under way. */
  ended(): Promise<void>;
}

/** What {@link createUpstreams} works with. */
export interface UpstreamsParts {
  readonly store: ProjectSecretsStore;
  readonly box: SecretBox;
}

const AT_ONCE = 50;

/** Makes what adds to calls. Nothing is read from the database before it is asked. */
export function createUpstreams({ store, box }: UpstreamsParts): Upstreams {
  let underWay: Promise<void> | undefined;
  let isClosing = false;
  const additions = (project: Sealed) => openAdditions(box, project);

  async function check(): Promise<void> {
    const missing = (await store.secretsKeys()).filter((id) => !box.has(id));
    if (missing.length > 0) throw wrongKeys(missing, box.keyId);
  }

  async function resealAll(): Promise<void> {
    await check();
    const { keyId } = box;
    // What somebody else changes at the same time is under the present key by that, or is found again.
    for (let isMore = keyId !== undefined; isMore && !isClosing; ) {
      const found = await store.sealedOtherwise(keyId ?? '', AT_ONCE);
      const done = found.map(async (it) => store.reseal({ ...it, upstream: resealUpstream(box, it) }));
      isMore = (await Promise.all(done)).includes(true);
    }
  }

  return {
    additions,
    require(project) {
      if (hasAdditions(project)) additions(project);
    },
    check,
    begin() {
      underWay ??= resealAll();
      return underWay;
    },
    async ended() {
      isClosing = true;
      await underWay?.catch(() => undefined);
    },
  };
}

function wrongKeys(missing: readonly string[], present: string | undefined): TollhouseError {
  const detail =
    `the database holds secrets of upstreams that were encrypted with a key that is not given (id ${missing.join(', ')}; ` +
    `${present === undefined ? 'there is none' : `the present one is ${present}`}): set SECRETS_KEY (option "secretsKey") ` +
    'to that key, or put it behind the new one, separated by a comma';
  return new TollhouseError('bad_option', detail, { param: 'secretsKey' });
}
