/** The header that shows a pass, and in which it is given out. */
export const PASS_HEADER = 'Access-Pass';

/** The header that says what is left. */
export const REMAINING_HEADER = 'Access-Pass-Remaining';

/** The header that says in a sentence what was not charged, and pays another request. */
export const CREDIT_HEADER = 'Access-Credit';

/** When a pass ends that can be renewed, and until when it can be: times as in ISO 8601. */
export const ENDS_HEADER = 'Access-Pass-Ends';
export const RENEWABLE_HEADER = 'Access-Pass-Renewable-Until';

/** What the name of a cookie begins with that carries a pass, but for the prefixes that browsers heed; its digest follows. */
export const PASS_COOKIE = 'access-pass-';

const SET_PASS_COOKIE = new RegExp(`^(?:__Host-|__Secure-)?${PASS_COOKIE}[\\da-f]+=`);

/** The cookies that a response sets, without those that carry a pass: these are for its own client alone. */
export function withoutPassCookies(cookies: string | string[]): string | string[] | undefined {
  const all = [cookies].flat();
  const kept = all.filter((it) => !SET_PASS_COOKIE.test(it));
  if (kept.length === all.length) return cookies;
  return kept.length === 0 ? undefined : kept;
}

/** How many calls without payment the key has left at the project: `99; limit=100; window=day; reset=3600`, in seconds. */
export const FREE_CALLS_HEADER = 'Access-Free-Calls';
