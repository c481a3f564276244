import type { PaywallData } from '../paywall/paywall-data.js';

/** What the script of a listing works with: the call of its example, to be sent and paid from the page. */
export interface TryData extends PaywallData {
  /** Of what is shown of the answer. */
  readonly answer: { readonly status: string; readonly headers: string; readonly body: string; readonly cut: string };
}
