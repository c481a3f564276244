import type { ServerResponse } from 'node:http';
import { createRequestNote } from '../../lib/http/request-note.js';

const keeping = createRequestNote<ServerResponse, Promise<boolean>>();
const leftOpen = createRequestNote<ServerResponse, true>();
const needed = createRequestNote<ServerResponse, readonly string[]>();
const held = createRequestNote<ServerResponse, readonly string[]>();
const listeners = createRequestNote<ServerResponse, () => void>();

/** Notes that a response is being kept for its client; the promise tells whether it was. */
export function noteKeeping(res: ServerResponse, kept: Promise<boolean>): void {
  keeping.put(res, kept);
}

/** Whether the client can ask for this response again. */
export async function isKept(res: ServerResponse): Promise<boolean> {
  return (await keeping.of(res)) ?? false;
}

/**
 * Leaves a response open: it is not kept, and the same request runs again. For responses whose status does not tell that a
 * retry may help, and for those that do not come to their end.
 */
export function leaveOpen(res: ServerResponse): void {
  leftOpen.put(res, true);
  if (res.closed) listeners.of(res)?.();
}

/** Whether somebody left the response open. */
export function isLeftOpen(res: ServerResponse): boolean {
  return leftOpen.of(res) === true;
}

/** Calls the listener when a response is left open whose client is gone: nobody may ever end it. */
export function onLeftOpen(res: ServerResponse, listener: () => void): void {
  listeners.put(res, listener);
}

/** Notes the scopes that the caller of a request has, for {@link lackingFor}. */
export function noteHeldScopes(res: ServerResponse, scopes: readonly string[]): void {
  held.put(res, scopes);
}

/** Notes the scopes without which nobody is to see a response, so that who has lost them is not given it again. */
export function noteNeededScopes(res: ServerResponse, scopes: readonly string[]): void {
  needed.put(res, scopes);
}

/** What {@link noteNeededScopes} noted; undefined where it did not. */
export function neededScopesOf(res: ServerResponse): readonly string[] | undefined {
  return needed.of(res);
}

/** Those of some scopes that the caller of a request does not have. */
export function lackingFor(res: ServerResponse, scopes: readonly string[] = []): readonly string[] {
  return scopes.filter((scope) => !held.of(res)?.includes(scope));
}
