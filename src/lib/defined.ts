/** The fields that are there: undefined ones are left out, as `exactOptionalPropertyTypes` wants it. */
export type Defined<T> = { readonly [Key in keyof T]?: Exclude<T[Key], undefined> };

/** An object without the fields that are undefined: `{ ...rest, ...defined({ memo, payer }) }`. */
export function defined<T extends object>(fields: T): Defined<T> {
  const kept: Partial<T> = {};
  // Some are made for every request: lists of pairs would cost four times as much.
  for (const name of Object.keys(fields) as (keyof T)[]) if (fields[name] !== undefined) kept[name] = fields[name];
  return kept as Defined<T>;
}
