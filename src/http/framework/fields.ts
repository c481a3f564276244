import { z } from 'zod';
import { NETWORK_IDS } from '../../protocol/types.js';

/** The body of a response, by the schema that describes it; nothing in it is to be changed. */
export type ResponseBody<S extends z.ZodType> = DeepReadonly<z.output<S>>;

/** A value of which nothing is to be changed. */
export type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

/** Whether something may be called that: a line of text. Not every database can even look for control characters or half a surrogate pair. */
export function isName(text: string): boolean {
  return /^[^\p{Cc}\p{Cs}]+$/u.test(text);
}

/** What something is called by that is looked up; whether there is such a thing is for whoever looks. */
export function nameText(max: number) {
  return z
    .string('must be a text')
    .min(1, 'must not be empty')
    .max(max, `must have at most ${max} characters`)
    .refine(isName, 'must be one line, without control characters');
}

/** A wallet, mint or program. */
export const address = z.string().meta({ description: 'Solana address, base58.', minLength: 32, maxLength: 44 });

/** A transaction's signature. */
export const signature = z
  .string()
  .meta({ description: 'Transaction signature, base58.', minLength: 64, maxLength: 88 });

/** A count that fits a JSON number exactly. */
export const countSchema = z.int().min(0);

/** A point in time. */
export const unixSeconds = z.int().describe('Seconds since 1970.');

/** A cluster's name. */
export const networkId = z.enum(NETWORK_IDS);

/** The network that a caller names; whether it is served is for the networks to say. */
export const networkName = z
  .string('must be a network id')
  .max(64, 'must be at most 64 characters')
  .optional()
  .describe('By its id, or in CAIP-2. Default: the first that is served here.');

/** Query of what is asked about one network. */
export const networkQuery = z.object({ network: networkName });

/** Query of what keeps test money and live money apart. */
export const moneyMode = z
  .enum(['live', 'test'], 'must be "live" or "test"')
  .optional()
  .describe('What is sold for money, or for test money. Default: `live` where mainnet is served here.');

/** A time as responses say it: ISO 8601 in UTC. @param time - milliseconds since the epoch */
export function timeText(time: number): string {
  return new Date(time).toISOString();
}

/** The same, null where there is none. */
export function timeOrNull(time: number | undefined): string | null {
  return time === undefined ? null : timeText(time);
}
