import type { ServerResponse } from 'node:http';

/**
 * Has what a response sends wait for some work, in its order. Called as its head is completed, when whoever ends the response is already
 * within Node: there `_send` is what everything goes through, as it does for a response whose turn on its connection has not come. To stand
 * before each response instead, most of which need not wait, costs more than all else that a gate does to it. Where a platform's
 * responses have no `_send`, nothing waits.
 * @param work - must not reject
 */
export function holdBack(res: ServerResponse, work: Promise<unknown>): void {
  const send: unknown = Reflect.get(res, '_send');
  if (typeof send !== 'function') return;
  const waiting: unknown[][] = [];
  let isOver = false;
  // False: whoever writes waits for 'drain'.
  const hold = (...args: unknown[]) => (isOver ? Reflect.apply(send, res, args) : waiting.push(args) === 0);
  Reflect.set(res, '_send', hold);
  work.then(() => {
    isOver = true;
    const { socket } = res;
    socket?.cork();
    const goesOn = waiting.map((args) => Reflect.apply(send, res, args)).at(-1);
    socket?.uncork();
    // Of a connection that is full Node tells by itself.
    if (goesOn !== false && !res.writableEnded) res.emit('drain');
  });
}
