import type { IncomingMessage } from 'node:http';

/** By these a client is told that nothing has changed since it had it. */
const OF_READING: readonly string[] = ['if-none-match', 'if-modified-since'];
/** Of other methods it says nothing, though file servers heed it; `If-None-Match: *` keeps what is there from being replaced. */
const OF_OTHERS: readonly string[] = ['if-modified-since'];

/**
 * Takes from a request what its answer could be a 304 for (RFC 9110, section 13): what is bought is the response itself, which its payer may
 * have again with the same payment, whether or not he has an earlier one still.
 */
export function withoutConditions(req: IncomingMessage): void {
  const conditions = req.method === 'GET' || req.method === 'HEAD' ? OF_READING : OF_OTHERS;
  if (!conditions.some((name) => req.headers[name] !== undefined)) return;
  for (const name of conditions) delete req.headers[name];
  const { rawHeaders } = req;
  req.rawHeaders = rawHeaders.filter((_, at) => !conditions.includes((rawHeaders[at - (at % 2)] ?? '').toLowerCase()));
}
