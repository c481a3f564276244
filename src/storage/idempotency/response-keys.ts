/** With which keys responses are sealed that are kept. Rejects with `store_unavailable`. */
export interface ResponseKeyStore {
  /** Notes that something was sealed just now with the key that has this id. */
  note(keyId: string): Promise<void>;
  /** Ids of the keys that something may be sealed with which is still kept. */
  inUse(): Promise<readonly string[]>;
  /**
   * Forgets keys that nothing is sealed with which is still kept.
   * @param limit - how many go at most
   * @returns how many went
   */
  prune(limit: number): Promise<number>;
}
