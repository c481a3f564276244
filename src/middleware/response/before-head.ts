import type { ServerResponse } from 'node:http';
import { isHeadSent } from '../../lib/http/intercept-methods.js';
import { writeHeadLater } from '../../lib/http/write-head.js';

const SENDING = ['flushHeaders', 'writeHead', 'write', 'end'] as const;

/**
 * Has something done once the head of a response is complete and before anything of it leaves. What its handler writes meanwhile waits,
 * in its order. Wrappers that are put on later see the response on its way in, and those before it once it goes on.
 * @param work - is called once, and may still set headers until its promise resolves, which must not reject. Undefined: nothing is to be done
 */
export function beforeHead(res: ServerResponse, work: () => Promise<void> | undefined): void {
  const { flushHeaders, writeHead, write, end } = res;
  const beneath = { flushHeaders, writeHead, write, end };
  const waiting: (() => void)[] = [];
  let state: 'before' | 'waiting' | 'over' = 'before';
  let mustDrain = false;

  function goOn(): void {
    state = 'over';
    for (const call of waiting) call();
    if (mustDrain) res.emit('drain');
  }

  function completeHead(): void {
    // What the work itself sends would ask for it again.
    state = 'over';
    const working = work();
    if (working === undefined) return;
    state = 'waiting';
    working.then(goOn);
  }

  for (const name of SENDING) {
    Reflect.set(res, name, (...args: unknown[]) => {
      if (state === 'before') {
        if (name === 'writeHead') writeHeadLater(res, Number(args[0]), args.splice(1));
        completeHead();
      }
      if (state === 'over') return Reflect.apply(beneath[name], res, args);
      if (name !== 'writeHead') waiting.push(() => Reflect.apply(beneath[name], res, args));
      if (name === 'write') mustDrain = true;
      return name === 'write' ? false : res;
    });
  }
  // After an error Express cuts the connection of a response whose headers are sent, and writes another one over all others.
  const headersSent = Object.getOwnPropertyDescriptor(res, 'headersSent')?.get ?? (() => isHeadSent(res));
  const isSent = () => state === 'waiting' || Boolean(Reflect.apply(headersSent, res, []));
  Object.defineProperty(res, 'headersSent', { configurable: true, get: isSent });
}
