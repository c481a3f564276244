/** The name of a header field in lower case, with `-` for `_`: many servers cannot tell `X_Tollhouse_Payer` from `X-Tollhouse-Payer`. */
export function plainName(name: string): string {
  return name.toLowerCase().replaceAll('_', '-');
}
