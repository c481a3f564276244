/** The fields that are there: undefined ones are left out, as `exactOptionalPropertyTypes` wants it. */
export type Defined<T> = { readonly [Key in keyof T]?: Exclude<T[Key], undefined> };

/** An object without the fields that are undefined: `{ ...rest, ...defined({ memo, payer }) }`. */
export function defined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
}
