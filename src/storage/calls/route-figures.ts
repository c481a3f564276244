/** What the calls of one route of a project have brought. */
export interface RouteFigures {
  /** Its name: method, `*` for any, and path. */
  readonly route: string;
  /** Calls that reached the upstream. */
  readonly calls: number;
  /** Those of them that were charged. */
  readonly paid: number;
  /** Atomic units by mint, as `revenue` of `Figures`. */
  readonly revenue: ReadonlyMap<string, bigint>;
}
