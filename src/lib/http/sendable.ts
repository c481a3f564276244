/** What Node's own check of a status message lets pass. */
const UNSENDABLE = /[^\t\x20-\x7e\x80-\xff]/;

/**
 * Throws, as Node does, for a status or a message that it would not send: while a response is held or waits, its handler must hear of that
 * where it writes it, as it would without a gate.
 */
export function checkStatus(status: number, message: string | undefined): void {
  const code = Math.trunc(status);
  if (!(code >= 100 && code <= 999)) {
    throw failure(RangeError, 'ERR_HTTP_INVALID_STATUS_CODE', `Invalid status code: ${status}`);
  }
  if (message !== undefined && UNSENDABLE.test(message)) {
    throw failure(TypeError, 'ERR_INVALID_CHAR', 'Invalid character in statusMessage');
  }
}

/** The same for what is no part of a body. */
export function checkChunk(chunk: unknown): void {
  if (typeof chunk === 'string' || chunk instanceof Uint8Array) return;
  throw failure(TypeError, 'ERR_INVALID_ARG_TYPE', 'an answer is written as string, Buffer or Uint8Array');
}

function failure(Kind: typeof TypeError | typeof RangeError, code: string, message: string): Error {
  return Object.assign(new Kind(message), { code });
}
