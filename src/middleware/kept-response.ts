import type { ServerResponse } from 'node:http';

const keeping = new WeakMap<ServerResponse, Promise<boolean>>();
const leftOpen = new WeakSet<ServerResponse>();
const listeners = new WeakMap<ServerResponse, () => void>();

/** Notes that an answer is being kept for its client; the promise tells whether it was. */
export function noteKeeping(res: ServerResponse, kept: Promise<boolean>): void {
  keeping.set(res, kept);
}

/** Whether the client can ask for this answer again. */
export async function isKept(res: ServerResponse): Promise<boolean> {
  return (await keeping.get(res)) ?? false;
}

/**
 * Leaves an answer open: it is not kept, and the same request runs again. For answers whose status does not tell that a
 * retry may help, and for those that do not come to their end.
 */
export function leaveOpen(res: ServerResponse): void {
  leftOpen.add(res);
  if (res.closed) listeners.get(res)?.();
}

/** Whether somebody left the answer open. */
export function isLeftOpen(res: ServerResponse): boolean {
  return leftOpen.has(res);
}

/** Calls the listener when an answer is left open whose client is gone: nobody may ever end it. */
export function onLeftOpen(res: ServerResponse, listener: () => void): void {
  listeners.set(res, listener);
}
