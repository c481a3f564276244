import type { NetworkId } from '../../protocol/types.js';

/** Which payments are looked after that nobody brings to an end. */
export interface UnresolvedQuery {
  readonly network: NetworkId;
  /** How long those that are answered are not answered again, whoever asks. Milliseconds. */
  readonly restMs: number;
  /** How many at most. */
  readonly limit: number;
}

/** Which payments are looked after whose runs have broken off. */
export interface InterruptedQuery extends Omit<UnresolvedQuery, 'restMs'> {
  /** Those whose lease ended within so many milliseconds. Who looks again and again need not find all that are owed. */
  readonly endedWithinMs: number;
}
