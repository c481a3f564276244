import type { Token } from '../../protocol/types.js';

/** What a payment buys for more than one call: so many, a time, both, or credit. As its owner wrote it. */
export interface ProjectPass {
  /** How many calls, the paid one among them. */
  readonly uses?: number;
  /** For how long, from the payment on: `24h`, `30d`. */
  readonly for?: string;
  /** Of credit: what a call takes, in atomic units of the token that is paid. Missing where no credit is sold. */
  readonly cost?: bigint;
  /** Name of a group of gates of the same seller, all of which it covers. Default: the calls of its project. */
  readonly group?: string;
}

/** A price with what it buys. */
export interface ProjectOffer {
  /** Atomic units, at least 1. */
  readonly amount: bigint;
  readonly token: Token;
  readonly pass: ProjectPass;
}

/** An amount of a token. */
export type ProjectMoney = Pick<ProjectOffer, 'amount' | 'token'>;

/** What some calls cost. */
export interface CallPrice extends ProjectMoney {
  /** What a payment of the amount buys. Default: one call; with this, no single calls are sold. */
  readonly pass?: ProjectPass;
  /** What one call costs in other tokens, whichever the caller likes, each token once. Default: it is sold in one. */
  readonly prices?: readonly ProjectMoney[];
  /** What else may be paid, in the seller's order. Default: nothing. */
  readonly offers?: readonly ProjectOffer[];
  /** What was offered before: passes that were bought cover calls still. Default: nothing. */
  readonly former?: readonly ProjectOffer[];
}
