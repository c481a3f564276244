import type { Response } from 'express';
import { freezeStatus, HEAD_METHODS, isHeadSent, nothing } from '../../lib/http/intercept-methods.js';
import { checkChunk, checkStatus } from '../../lib/http/sendable.js';
import { writeHeadLater } from '../../lib/http/write-head.js';
import { exposeHeaders, setHeaders } from '../gate/respond.js';
import { isChunk } from './response-buffer.js';

const SENDING = ['flushHeaders', 'writeHead', 'write', 'end'] as const;

/** What is done once a head is complete; the headers that it answers go out with the others. Must not reject. */
type Work = () => Promise<Readonly<Record<string, string>> | undefined> | undefined;

/**
 * Has something done once the head of a response is complete and before anything of it leaves. What its handler writes meanwhile waits,
 * in its order, and changes the head no more. Wrappers that are put on later see the response on its way in, and those before it once it
 * goes on.
 * @param work - is called once; undefined: nothing is to be done
 */
export function beforeHead(res: Response, work: Work): void {
  const { flushHeaders, writeHead, write, end } = res;
  const beneath = { flushHeaders, writeHead, write, end };
  const waiting: (() => void)[] = [];
  let state: 'before' | 'waiting' | 'over' = 'before';
  let mustDrain = false;
  let isEnded = false;

  function goOn(told: Readonly<Record<string, string>> | undefined): void {
    state = 'over';
    if (told !== undefined) {
      setHeaders(res, told);
      exposeHeaders(res, Object.keys(told));
    }
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

  const isWaiting = () => state === 'waiting';
  freezeStatus(res, isWaiting);
  for (const name of SENDING) {
    Reflect.set(res, name, (...args: unknown[]) => {
      if (state === 'before') {
        checkCall(res, name, args);
        if (name === 'writeHead') writeHeadLater(res, Number(args[0]), args.splice(1));
        completeHead();
      }
      if (state === 'over') return Reflect.apply(beneath[name], res, args);
      if (isEnded || name === 'writeHead') return nothing(res, name, args);
      waiting.push(() => Reflect.apply(beneath[name], res, args));
      isEnded = name === 'end';
      if (name !== 'write') return res;
      mustDrain = true;
      return false;
    });
  }
  for (const name of HEAD_METHODS) {
    const original: unknown = Reflect.get(res, name);
    if (typeof original !== 'function') continue;
    Reflect.set(res, name, (...args: unknown[]) =>
      isWaiting() ? nothing(res, name, args) : Reflect.apply(original, res, args),
    );
  }
  // After an error Express cuts the connection of a response whose headers are sent, and writes another one over all others.
  const headersSent = Object.getOwnPropertyDescriptor(res, 'headersSent')?.get ?? (() => isHeadSent(res));
  const isSent = () => isWaiting() || Boolean(Reflect.apply(headersSent, res, []));
  Object.defineProperty(res, 'headersSent', { configurable: true, get: isSent });
}

/** What Node would refuse is refused before its head counts as written: another one comes in its place then. */
function checkCall(res: Response, name: (typeof SENDING)[number], [chunk]: readonly unknown[]): void {
  if (name === 'writeHead') return;
  checkStatus(res.statusCode, res.statusMessage);
  if (name === 'write' || (name === 'end' && isChunk(chunk))) checkChunk(chunk);
}
