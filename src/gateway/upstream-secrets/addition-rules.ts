import type { FieldFault } from '../../errors/errors.js';
import { plainName } from '../../lib/http/plain-name.js';
import { HOP_BY_HOP } from '../proxy/header-fields.js';

/** A secret as its owner writes it: its value, or that the one which is set stays. */
export type WrittenSecret = string | { readonly set: true };

/** Secrets by name, as they are written. */
export type WrittenSecrets = Readonly<Record<string, WrittenSecret>>;

/** What is added to the calls of an upstream. */
export const ADDITION_KINDS = ['headers', 'query'] as const;

/** One of {@link ADDITION_KINDS}. */
export type AdditionKind = (typeof ADDITION_KINDS)[number];

/** Most entries of each kind. */
export const MAX_ADDITIONS = 16;
const MAX_NAME = 100;
const MAX_VALUE = 4_096;
/** Node's servers take 16 KiB of header fields, the caller's among them. */
const MAX_SUM = 8_192;

const FIELD_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const FIELD_VALUE = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;

/** What only the gateway or the connection says. */
const OURS: ReadonlySet<string> = new Set([
  'cdn-loop',
  'content-encoding',
  'content-length',
  'forwarded',
  'host',
  'traceparent',
  'tracestate',
  'x-real-ip',
  'x-request-id',
]);
const OUR_FAMILIES = ['x-forwarded-', 'x-tollhouse-'];

/**
 * Faults of what is to be added, each at its field. A value is in none of them.
 * @param whyNotKept - why the one of a name that is to stay cannot; undefined where it can
 */
export function additionFaults(
  kind: AdditionKind,
  written: WrittenSecrets,
  whyNotKept: (name: string) => string | undefined,
): readonly FieldFault[] {
  const at = `/upstream/${kind}`;
  const names = Object.keys(written);
  if (names.length > MAX_ADDITIONS) return [fault(at, `must have at most ${MAX_ADDITIONS} entries`)];
  const sum = Object.values(written).reduce((all, it) => all + (typeof it === 'string' ? it.length : 0), 0);
  if (sum > MAX_SUM) return [fault(at, `must have at most ${MAX_SUM} characters in all`)];
  return names.flatMap((name) => {
    const value = written[name];
    const keeps = typeof value !== 'string';
    const detail = nameFault(kind, name, names) ?? (keeps ? whyNotKept(name) : valueFault(kind, value));
    return detail === undefined ? [] : [fault(`${at}/${pointerPart(name)}`, detail)];
  });
}

function nameFault(kind: AdditionKind, name: string, all: readonly string[]): string | undefined {
  if (name.length === 0 || name.length > MAX_NAME) return `must have a name of 1 to ${MAX_NAME} characters`;
  if (kind === 'query') {
    return isText(name) ? undefined : 'must have a name without control characters';
  }
  if (!FIELD_NAME.test(name)) return 'must have the name of a header: letters, digits and "-"';
  const plain = plainName(name);
  if (HOP_BY_HOP.has(plain)) return 'is a header of the connection, which nobody can add';
  if (OURS.has(plain) || OUR_FAMILIES.some((family) => plain.startsWith(family)))
    return 'is a header that only the gateway sets';
  return all.filter((it) => plainName(it) === plain).length > 1 ? 'is named twice' : undefined;
}

function valueFault(kind: AdditionKind, value: string): string | undefined {
  if (value.length > MAX_VALUE) return `must have at most ${MAX_VALUE} characters`;
  if (kind === 'query') return isText(value) ? undefined : 'must be a text without control characters';
  return FIELD_VALUE.test(value)
    ? undefined
    : 'must be visible ASCII characters, with spaces only between them; it is sent as it is';
}

/** What can be encoded for an address. */
function isText(text: string): boolean {
  return !/[\p{Cc}\p{Cs}]/u.test(text);
}

function pointerPart(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

function fault(pointer: string, detail: string): FieldFault {
  return { pointer, code: 'custom', detail };
}
