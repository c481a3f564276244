/** Where the API of owners and callers begins. */
export const API = '/api/v1';

/** Where projects are called: `/v1/<slug>`. */
export const CALLS_PATH = '/v1';

/** Where the receipt of a payment is that a caller has made or got. */
export const RECEIPT_PATH = `${API}/payments/:id/receipt` as const;

/** The `:names` in a path. */
type PathName<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | PathName<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/** Values for the `:names` in a path. */
export type PathParams<Path extends string> = Readonly<Record<PathName<Path>, string>>;

const NAMES = /:(\w+)/g;

/** The `:names` in a path, in their order. */
export function pathParameterNames(path: string): string[] {
  return [...path.matchAll(NAMES)].flatMap(([, name]) => name ?? []);
}

/** A path with values in place of its `:names`, encoded for an address. */
export function fillPath<Path extends string>(path: Path, params: PathParams<Path>): string {
  return path.replace(NAMES, (_whole, name: string) => encodeURIComponent(String(Reflect.get(params, name))));
}
