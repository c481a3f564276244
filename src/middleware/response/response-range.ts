import type { IncomingMessage, ServerResponse } from 'node:http';
import type { StoredResponse } from './response-seal.js';

/** Partial Content, and Range Not Satisfiable. */
const STATUSES = new Set([206, 416]);

/** What a response is a part of that was asked for: of one that is no part, undefined. */
export function answeredRange({ req, statusCode }: ServerResponse): string | undefined {
  return STATUSES.has(statusCode) ? askedRange(req) : undefined;
}

/** Whether a response that was kept is another part than a request asks for. A whole one is good for every Range: a server may ignore it. */
export function isOfOtherRange(req: IncomingMessage, { range }: StoredResponse): boolean {
  return range !== undefined && range !== askedRange(req);
}

function askedRange({ headers }: IncomingMessage): string {
  return JSON.stringify([headers.range ?? null, headers['if-range'] ?? null]);
}
