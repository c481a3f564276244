/** The place of a call in a list of them. */
export interface CallPlace {
  /** When it came in, milliseconds since the epoch. */
  readonly at: number;
  /** Rising in the order in which calls were written. */
  readonly seq: bigint;
}

/** HTTP statuses, one or many. */
export interface StatusRange {
  readonly from: number;
  readonly below: number;
}

/** Which calls are listed: of a project or of a buyer, at least. */
export interface CallsQuery {
  readonly projectId?: string | undefined;
  /** Wallet whose keys they came with, or that has paid them, base58. */
  readonly buyer?: string | undefined;
  readonly keyId?: string | undefined;
  /** Wallet that has paid, base58. */
  readonly payer?: string | undefined;
  readonly outcome?: 'succeeded' | 'failed' | undefined;
  /** What the upstream answered: `from` included, `below` not. */
  readonly status?: StatusRange | undefined;
  /** As `route` of a call says it. */
  readonly route?: string | undefined;
  /** Milliseconds since the epoch, included. */
  readonly from?: number | undefined;
  /** Milliseconds since the epoch, not included. */
  readonly to?: number | undefined;
  /** Only those that come behind this one in the list. Default: from the newest on. */
  readonly before?: CallPlace | undefined;
  /** How many at most. */
  readonly limit: number;
}
