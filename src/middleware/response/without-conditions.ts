import type { IncomingMessage } from 'node:http';

/** By these a client is told that nothing has changed since it had it. */
const CONDITIONS: readonly string[] = ['if-none-match', 'if-modified-since'];

/**
 * Takes from a GET or HEAD what its answer could be a 304 for (RFC 9110, section 13; of other methods `If-None-Match: *` keeps what is there): what is bought is the response itself, which its payer may have again with the
 * same payment, whether or not he has an earlier one still.
 */
export function withoutConditions(req: IncomingMessage): void {
  if (req.method !== 'GET' && req.method !== 'HEAD') return;
  if (!CONDITIONS.some((name) => req.headers[name] !== undefined)) return;
  for (const name of CONDITIONS) delete req.headers[name];
  const { rawHeaders } = req;
  req.rawHeaders = rawHeaders.filter((_, at) => !CONDITIONS.includes((rawHeaders[at - (at % 2)] ?? '').toLowerCase()));
}
