import { ACCOUNT_METHODS } from './account-methods.js';
import { CHAIN_METHODS } from './chain-methods.js';
import { HISTORY_METHODS } from './history-methods.js';
import { SEND_METHODS } from './send-methods.js';

/** Methods answered over HTTP. */
export const HTTP_METHODS = { ...CHAIN_METHODS, ...ACCOUNT_METHODS, ...SEND_METHODS, ...HISTORY_METHODS };

/** Methods answered over WebSocket. */
export const SOCKET_METHODS = [
  'signatureSubscribe',
  'signatureUnsubscribe',
  'accountSubscribe',
  'accountUnsubscribe',
  'slotSubscribe',
  'slotUnsubscribe',
] as const;

/** Names of all methods. */
export const METHOD_NAMES: readonly string[] = [...Object.keys(HTTP_METHODS), ...SOCKET_METHODS];

/** A method answered over WebSocket. */
export type SocketMethod = (typeof SOCKET_METHODS)[number];

/** Calls received per method since the start or the last reset, faulty ones included; `total` counts those over HTTP. */
export type CallCounts = { readonly [Method in keyof typeof HTTP_METHODS | SocketMethod | 'total']: number };

/** The counters and what moves them. */
export interface CallCounter {
  /** A live view: always up to date. */
  readonly calls: CallCounts;
  count(method: string, transport: 'http' | 'socket'): void;
  reset(): void;
}

/** Creates counters that all stand at 0. */
export function createCallCounter(): CallCounter {
  const names = ['total', ...METHOD_NAMES];
  const counters: Record<string, number> = Object.fromEntries(names.map((name) => [name, 0]));
  const add = (name: string): void => {
    counters[name] = (counters[name] ?? 0) + 1;
  };
  return {
    calls: counters as CallCounts,
    count: (method, transport) => {
      if (transport === 'http') {
        add('total');
      }
      if (Object.hasOwn(counters, method) && method !== 'total') {
        add(method);
      }
    },
    reset: () => {
      for (const name of names) {
        counters[name] = 0;
      }
    },
  };
}
