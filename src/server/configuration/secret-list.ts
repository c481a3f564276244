import { z } from 'zod';

/**
 * The rule of a variable that holds secrets, separated by commas: the first is used, all are accepted, so that instances can be
 * restarted one by one with another one.
 * @param minBytes - how long each must be
 * @param example - a command that makes one
 */
export function secretList(minBytes: number, example: string) {
  const rule = `secrets of at least ${minBytes} bytes, separated by commas; make one with "${example}"`;
  return z
    .string()
    .transform((text) => text.split(',').map((it) => it.trim()))
    .refine((all) => all.every((it) => Buffer.byteLength(it) >= minBytes), rule);
}
