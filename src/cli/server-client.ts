import { request } from 'undici';
import { CommandError } from './command.js';

/** Where `tollhouse serve` listens unless told otherwise. */
export const DEFAULT_SERVER = 'http://127.0.0.1:4020';

const TIMEOUT_MS = 90_000;

/** Posts JSON to a Tollhouse server. Answers that are problems become a {@link CommandError} with their detail. */
export async function postJson(server: string, path: string, body: object): Promise<Record<string, unknown>> {
  const url = `${server.replace(/\/+$/, '')}${path}`;
  const answer = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(body),
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
  }).catch((error: unknown) => {
    throw new CommandError(`${url} cannot be reached (${error instanceof Error ? error.message : String(error)})`);
  });
  const json: unknown = await answer.body.json().catch(() => undefined);
  if (typeof json !== 'object' || json === null)
    throw new CommandError(`${url} answered ${answer.statusCode} without JSON`);
  if (answer.statusCode < 400) return { ...json };
  const detail = Reflect.get(json, 'detail') ?? `it answered ${answer.statusCode}`;
  throw new CommandError(`${String(Reflect.get(json, 'code') ?? path)}: ${String(detail)}`);
}
