import type { ProjectRecord } from './projects.js';

/** With which keys the secrets of projects are encrypted. Rejects with `store_unavailable`. */
export interface ProjectSecretsStore {
  /** Ids of the keys that secrets of projects are encrypted with. */
  secretsKeys(): Promise<readonly string[]>;
  /** Some projects that are not deleted, with secrets that are not encrypted with one key alone. */
  sealedOtherwise(keyId: string, limit: number): Promise<readonly ProjectRecord[]>;
  /**
   * Puts the same secrets, encrypted anew, in the place of a project's: it is no other version.
   * @returns false when there is another version by now
   */
  reseal(project: ProjectRecord): Promise<boolean>;
}
