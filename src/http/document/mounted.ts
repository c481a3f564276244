/** Which parts of the service are mounted, beside those that always are. */
export interface Mounted {
  /** The sign-in endpoints. */
  readonly signIn: boolean;
  /** `/api/v1` and `/v1/<slug>`. */
  readonly api: boolean;
  /** Payouts below `/api/v1`. */
  readonly payouts: boolean;
}
