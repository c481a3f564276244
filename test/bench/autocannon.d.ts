/** What of autocannon the bench uses; the package brings no types. */
declare module 'autocannon' {
  interface Options {
    readonly url: string;
    readonly amount: number;
    readonly connections: number;
    /** In milliseconds. */
    readonly sampleInt: number;
    readonly headers?: Readonly<Record<string, string>>;
  }

  interface Result {
    /** In seconds. */
    readonly duration: number;
    readonly errors: number;
    readonly '2xx': number;
    readonly statusCodeStats: Readonly<Record<string, { readonly count: number }>>;
  }

  export default function autocannon(options: Options): Promise<Result>;
}
