import { plainName } from '../../lib/http/plain-name.js';

/** Header fields as they are on the wire: name, value, name, value. */
export type Fields = readonly string[];

/** Fields of one connection, which nothing in between passes on (RFC 9110 §7.6.1), and `Expect`, which is answered here. */
export const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Names and values of fields. */
export function pairsOf(fields: Fields): readonly (readonly [name: string, value: string])[] {
  const pairs: (readonly [string, string])[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) pairs.push([fields[at] ?? '', fields[at + 1] ?? '']);
  return pairs;
}

/** Tells the fields that stay on their connection: the fixed ones, and those that `Connection` names. */
export function hopByHop(fields: Fields): (plainName: string) => boolean {
  const named = new Set<string>();
  for (const [name, value] of pairsOf(fields)) {
    if (name.toLowerCase() === 'connection') for (const it of value.split(',')) named.add(plainName(it.trim()));
  }
  return (name) => HOP_BY_HOP.has(name) || named.has(name);
}
