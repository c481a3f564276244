import type { ServerResponse } from 'node:http';

/**
 * Whether a response that is finished or closed has left for its client as a whole. When this side destroys a connection, of a
 * reader who is too slow for instance, Node calls finished what is left of the response on it.
 */
export function hasLeft(res: ServerResponse): boolean {
  const { socket } = res.req;
  return res.writableFinished && (!socket.destroyed || socket.writableFinished);
}
