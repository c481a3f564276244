import type { ServerResponse } from 'node:http';
import type { Response } from 'express';
import { ERRORS, type ErrorCode, type ProblemMembers, problem, type TollhouseError } from '../../errors/errors.js';
import { defined } from '../../lib/defined.js';
import { errorText } from '../../lib/error-text.js';
import { createRequestNote } from '../../lib/http/request-note.js';
import { keepUncached } from './cache-control.js';
import { beyondLimitSeconds, isFailedProof, lockedOutSeconds } from './locked-out.js';
import { requestIdOf } from './request-id.js';

/** The header that names what scripts of other origins may read. */
export const EXPOSE_HEADERS = 'Access-Control-Expose-Headers';

const codes = createRequestNote<ServerResponse, ErrorCode>();

/** The code of the problem that a request was answered with; undefined for other responses. */
export function problemCodeOf(res: ServerResponse): ErrorCode | undefined {
  return codes.of(res);
}

/** Notes the code of a response that is a problem and was not made by {@link sendProblem}. */
export function noteProblemCode(res: Response, code: ErrorCode): void {
  codes.put(res, code);
}

/** Sends a page in place of a problem, whose status and headers are set; false where there is none for its code. */
export type ProblemPage = (code: ErrorCode) => boolean;

const pages = createRequestNote<Response, ProblemPage>();

/** Has a browser shown a page where its request comes to a problem. What is said last counts. */
export function showProblems(res: Response, page: ProblemPage): void {
  pages.put(res, page);
}

/** What an error response carries beside its problem's fixed members. */
export interface ProblemExtras extends Omit<ProblemMembers, 'request_id'> {
  readonly headers?: Readonly<Record<string, string>>;
  /** Seconds for `Retry-After`. */
  readonly retryAfterSeconds?: number | undefined;
  /** Members of this one response's problem, by the names they have on the wire. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/**
 * Answers with a problem body (RFC 9457) and the status of the code. A 401 says how to prove who is calling, if nobody
 * has said so yet (RFC 9110 §11.6.1).
 */
export function sendProblem(res: Response, code: ErrorCode, detail: string, extras: ProblemExtras = {}): void {
  const lockedSeconds = isFailedProof(ERRORS[code].status, code) ? lockedOutSeconds(res) : undefined;
  if (lockedSeconds !== undefined) {
    const lockedOut = `Too many authentications from this address have failed, this one as well; it is locked out for ${lockedSeconds} s, but for what is right.`;
    return sendProblem(res, 'rate_limited', lockedOut, { retryAfterSeconds: lockedSeconds });
  }
  const beyondSeconds = isFaultOfClient(code) ? beyondLimitSeconds(res) : undefined;
  if (beyondSeconds !== undefined) {
    const beyond = `Too many requests came from this address. What is right still passes; this was not: ${detail}`;
    return sendProblem(res, 'rate_limited', beyond, { retryAfterSeconds: beyondSeconds });
  }
  const { headers, retryAfterSeconds, more, ...members } = extras;
  const body = problem(code, detail, { request_id: requestIdOf(res), ...members });
  noteProblemCode(res, code);
  res.statusCode = body.status;
  setHeaders(res, { ...headers, 'Content-Type': 'application/problem+json' });
  keepUncached(res);
  if (body.status === 401 && !res.hasHeader('WWW-Authenticate')) res.setHeader('WWW-Authenticate', 'Bearer');
  if (retryAfterSeconds !== undefined) res.setHeader('Retry-After', String(retryAfterSeconds));
  if (pages.of(res)?.(code) === true) return;
  res.end(JSON.stringify({ ...body, ...more }));
}

function isFaultOfClient(code: ErrorCode): boolean {
  return ERRORS[code].status < 500 && code !== 'rate_limited';
}

/** Notes a bug, whose particulars are nobody's but the developer's, and answers 500; what has begun is broken off. */
export function sendFault(res: Response, error: unknown): void {
  const { message, stack = '' } = error instanceof Error ? error : { message: error };
  process.emitWarning(errorText(message), { code: 'TOLLHOUSE_INTERNAL', detail: stack });
  if (res.headersSent) return void res.destroy();
  sendProblem(res, 'internal_error', 'The request could not be handled. The fault is on our side and was noted.');
}

/** Answers with an error of ours; other errors are bugs and belong to Express. */
export function sendError(res: Response, error: TollhouseError): void {
  const { param, errors, retryAfterSeconds } = error.context;
  sendProblem(res, error.code, error.message, {
    retryAfterSeconds,
    ...defined({ param, errors }),
  });
}

/** Sets headers by their names. */
export function setHeaders(res: Response, headers: Readonly<Record<string, string>>): void {
  // Set for nearly every response: lists of pairs would cost as much as a header, and so does finding a method of a response of Express.
  const { setHeader } = res;
  for (const name of Object.keys(headers)) setHeader.call(res, name, headers[name] ?? '');
}

/** Lets scripts of other origins read headers, keeping those that are exposed already. */
export function exposeHeaders(res: Response, names: readonly string[]): void {
  res.setHeader(EXPOSE_HEADERS, withExposed(res.getHeader(EXPOSE_HEADERS), names));
}

/** What was joined before: most gates have one list of names for every response, and find the same names on it. */
const joined = new WeakMap<readonly string[], Map<unknown, string>>();
/** The names that an upstream or a handler exposes are its own; so many of them are remembered. */
const MAX_JOINED = 50;

/** The value of `Access-Control-Expose-Headers` with some names more. */
export function withExposed(value: unknown, names: readonly string[]): string {
  const known = joined.get(names) ?? new Map<unknown, string>();
  const found = known.get(value);
  if (found !== undefined) return found;
  const made = joinExposed(value, names);
  if (known.size < MAX_JOINED && (value === undefined || typeof value === 'string')) known.set(value, made);
  joined.set(names, known);
  return made;
}

function joinExposed(value: unknown, names: readonly string[]): string {
  const present = String(value ?? '')
    .split(',')
    .map((it) => it.trim());
  return [...new Set([...present, ...names].filter((it) => it !== ''))].join(', ');
}
