import type { ServerResponse } from 'node:http';
import { createRequestNote } from '../../lib/http/request-note.js';

const keeping = createRequestNote<ServerResponse, Promise<boolean>>();
const leftOpen = createRequestNote<ServerResponse, true>();
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
