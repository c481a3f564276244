import { z } from 'zod';
import { didYouMean } from './did-you-mean.js';

/** Other words for fields, in small letters and without `_`; the first of them that is a field there is meant. */
const OTHER_WORDS: Readonly<Record<string, readonly string[]>> = {
  to: ['recipient'],
  payto: ['recipient'],
  receiver: ['recipient'],
  destination: ['recipient'],
  wallet: ['recipient'],
  address: ['recipient'],
  from: ['payer'],
  sender: ['payer'],
  account: ['payer'],
  mint: ['token'],
  asset: ['token'],
  currency: ['token'],
  symbol: ['token'],
  price: ['pricing', 'amount'],
  value: ['amount'],
  amountatomic: ['amount'],
  slug: ['project'],
  shares: ['split'],
  expires: ['expires_in', 'expires_at'],
  budget: ['spending'],
};

type Fields = Readonly<Record<string, z.core.$ZodType>>;

/**
 * What a field that a schema does not have was probably meant to be, to be read after "did you mean": `"split"`, or
 * `"expected": {"amount": …}` for one that belongs into another. Undefined when it resembles nothing.
 * @param path - where the field stands
 */
export function meantField(schema: z.core.$ZodType, path: readonly PropertyKey[], key: string): string | undefined {
  const fields = fieldsAt(schema, path);
  const names = Object.keys(fields);
  const inside = Object.entries(fields).map(([name, field]) => ({ name, names: Object.keys(shapeOf(field)) }));
  const within = (pick: (names: readonly string[]) => string | undefined) =>
    inside.flatMap(({ name, names: own }) => {
      const meant = pick(own);
      return meant === undefined ? [] : [`"${name}": {"${meant}": …}`];
    })[0];
  return (
    quoted(sameMeaning(key, names)) ??
    within((own) => sameMeaning(key, own)) ??
    quoted(didYouMean(key, names)) ??
    within((own) => didYouMean(key, own))
  );
}

/** The sentence for an unknown field: what was probably meant, or else what there is. */
export function unknownField(schema: z.core.$ZodType, path: readonly PropertyKey[], key: string): string {
  const meant = meantField(schema, path, key);
  const hint =
    meant === undefined ? `the fields are ${Object.keys(fieldsAt(schema, path)).join(', ')}` : `did you mean ${meant}?`;
  return `is no field of this request; ${hint}`;
}

function quoted(name: string | undefined): string | undefined {
  return name === undefined ? undefined : `"${name}"`;
}

function sameMeaning(key: string, names: readonly string[]): string | undefined {
  const plain = key.toLowerCase().replaceAll('_', '');
  const words = Object.hasOwn(OTHER_WORDS, plain) ? (OTHER_WORDS[plain] ?? []) : [];
  return [key, ...words].find((word) => names.includes(word));
}

function fieldsAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): Fields {
  let at: z.core.$ZodType | undefined = schema;
  for (const step of path) at = at && partOf(plain(at), step);
  return at === undefined ? {} : shapeOf(at);
}

function partOf(schema: z.core.$ZodType, step: PropertyKey): z.core.$ZodType | undefined {
  return schema instanceof z.ZodArray ? schema.element : shapeOf(schema)[String(step)];
}

function shapeOf(schema: z.core.$ZodType): Fields {
  const it = plain(schema);
  return it instanceof z.ZodObject ? it.shape : {};
}

/** A schema without what makes it optional. */
function plain(schema: z.core.$ZodType): z.core.$ZodType {
  const isWrapped =
    schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault;
  return isWrapped ? plain(schema.unwrap()) : schema;
}
