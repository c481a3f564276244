/** Mint of the token that everything is sold for, and that members hold. */
export const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
/** What a route costs, in atomic units. */
export const PRICE = 10_000n;
/** How many requests a pass covers. */
export const PASS_USES = 5;
/** How many requests a pack covers whose paid request fails. */
export const PACK_USES = 2;
/** Header that has a handler of `/failing/…` and `/failing-pack/…` fail, and the status that it fails with. */
export const FAILS_HEADER = 'x-fails';
export const FAILED_STATUS = 501;
/** What a call through the gateway costs: text, and atomic units. */
export const CALL_PRICE_TEXT = '0.012347';
export const CALL_PRICE = 12_347n;
/** What is asked for by `/create-payment`. */
export const SOL_PRICE = 2_000_000n;
export const SOL_PRICE_TEXT = '0.002';
/** Whole USDC that a member of the club holds. */
export const CLUB_MINIMUM = 500;
/** The gateway's project. */
export const SLUG = 'soak-api';
/** How the slugs of strangers' projects begin. */
export const STRANGER = 'stranger-';
/** Length of the one response that is too long to be kept, about. */
export const LONG_BYTES = 2_500_000;
