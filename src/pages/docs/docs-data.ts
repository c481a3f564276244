/** What the script of the API document works with. */
export interface DocsData {
  /** Path of the service on this site, without a slash at its end. */
  readonly base: string;
  readonly texts: {
    readonly status: string;
    readonly headers: string;
    readonly body: string;
    readonly sending: string;
    readonly noAnswer: string;
    readonly cut: string;
  };
}
