/** A request, to be shown as a command. */
export interface ShownRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** A request as a command for a shell. Nothing in it can leave its quotes. */
export function curlText({ method, url, headers, body }: ShownRequest): string {
  const fields = Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  const data = body === undefined ? [] : [`--data-raw ${quoted(body)}`];
  // With -X HEAD curl would wait for a body.
  const verb = method === 'HEAD' ? '--head' : `-X ${method}`;
  return [`curl ${verb} ${quoted(url)}`, ...fields, ...data].join(' \\\n  ');
}

function quoted(text: string): string {
  return `'${text.replace(/'/g, `'\\''`)}'`;
}
