/**
 * The name of a header field in lower case, with `-` for all that is neither letter nor digit: many servers cannot tell
 * `X_Tollhouse_Payer` from `X-Tollhouse-Payer`, and some `X.Tollhouse.Payer` neither, as they make variables of them.
 */
export function plainName(name: string): string {
  return name.toLowerCase().replace(/[^a-z\d]/g, '-');
}
