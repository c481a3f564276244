/** Longest payment header that is read, in bytes of ASCII; a Solana payment needs about 1,450 (protocol/README.md, "Version 2"). */
export const MAX_HEADER_BYTES = 16 * 1024;

/** How deep the JSON of a payment may be nested, in objects and arrays. */
export const MAX_JSON_DEPTH = 64;

/** How many values the JSON of a payment may hold in all. */
export const MAX_JSON_VALUES = 20_000;

/** Longest transaction that is decoded, in bytes: a version 1 message's; the checks refuse that version by name (solana/README.md, "The rules of a payment"). */
export const MAX_DECODED_BYTES = 4_096;

/** Longest memo, in bytes of UTF-8 (solana/README.md, "The rules of a payment"). */
export const MAX_MEMO_BYTES = 256;

/** Largest amount of a token, in atomic units: the chain counts in unsigned 64-bit integers. */
export const MAX_AMOUNT = 18_446_744_073_709_551_615n;

/** Longest text that is read as a price or an amount, in characters. */
export const MAX_PRICE_LENGTH = 64;

/** Longest text that is read as an amount, in characters; the smallest JSON number written out has some 340. */
export const MAX_AMOUNT_LENGTH = 400;
