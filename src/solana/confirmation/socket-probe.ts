import { WebSocket } from 'ws';

const ASKED = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'slotSubscribe', params: [] });

/**
 * Whether a WebSocket endpoint takes subscriptions: connects, subscribes, and leaves. Returns what is wrong, undefined when
 * nothing is; never rejects.
 * @param timeoutMs - deadline of all of it, in milliseconds
 * @param signal - ends it at once; who can end it does not wait for it, and the process is not kept alive for the answer
 */
export function socketFault(url: string, timeoutMs: number, signal?: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url, { handshakeTimeout: timeoutMs, perMessageDeflate: false });
    const end = (fault?: string): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
      socket.terminate();
      resolve(fault);
    };
    const cancel = () => end('cancelled');
    const timer = setTimeout(() => end(`no answer within ${timeoutMs} ms`), timeoutMs);
    if (signal !== undefined) {
      timer.unref();
      signal.addEventListener('abort', cancel);
      socket.on('upgrade', (response) => response.socket.unref());
    }
    socket.on('open', () => socket.send(ASKED));
    socket.on('message', () => end());
    socket.on('close', () => end('the connection was closed'));
    socket.on('error', (error) => end(faultOf(error)));
  });
}

/** `connect ECONNREFUSED 127.0.0.1:1`, `Unexpected server response: 404`. */
function faultOf(error: Error): string {
  return error.message === '' ? String(Reflect.get(error, 'code') ?? error.name) : error.message;
}
