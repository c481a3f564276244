import type { ServerResponse } from 'node:http';

/**
 * `hold`: the handler's calls are kept; `mute`: they do nothing; `open`: they reach the client; `out`: the response was let
 * out, the handler is mute, and wrappers that send it later may still see to its head.
 */
export type Mode = 'hold' | 'mute' | 'open' | 'out';

export type InterceptedMethod = (...args: unknown[]) => unknown;

const HOLDING_METHODS = ['write', 'end', 'writeHead', 'flushHeaders'] as const;

/** A method that does something of its own while the response is held. */
export type HoldingMethod = (typeof HOLDING_METHODS)[number];

/** These would send something at once, and have nothing to say while the response is held. */
const SENDING_METHODS = ['writeContinue', 'writeProcessing', 'writeEarlyHints', 'addTrailers'];
/** These only prepare the head; they do so until the handler is done. */
export const HEAD_METHODS: readonly string[] = ['setHeader', 'setHeaders', 'appendHeader', 'removeHeader'];

const INTERCEPTED = [...HOLDING_METHODS, ...SENDING_METHODS, ...HEAD_METHODS];
const FOR_HEAD: ReadonlySet<string> = new Set([...HEAD_METHODS, 'writeHead']);
const RETURNS_RESPONSE: ReadonlySet<string> = new Set(['end', 'writeHead', 'setHeader', 'setHeaders', 'appendHeader']);

/**
 * Lets the methods of a response do what its mode says, `holding` among them what they do in mode `hold`. Returns the
 * function that puts the interception back on top of what wrappers have put over it since.
 */
export function interceptMethods(
  res: ServerResponse,
  mode: () => Mode,
  holding: Readonly<Partial<Record<HoldingMethod, InterceptedMethod>>> = {},
): () => void {
  const intercepted: Record<string, InterceptedMethod> = {};
  for (const name of INTERCEPTED) {
    const original: unknown = Reflect.get(res, name);
    if (typeof original !== 'function') continue;
    intercepted[name] = (...args) => {
      const now = mode();
      if (now === 'open') return Reflect.apply(original, res, args);
      const own = now === 'hold' ? Reflect.get(holding, name) : undefined;
      if (typeof own === 'function') return own(...args);
      const passes = FOR_HEAD.has(name) && (now === 'hold' || (now === 'out' && !isHeadSent(res)));
      return passes ? Reflect.apply(original, res, args) : nothing(res, name, args);
    };
  }
  freezeStatus(res, () => mode() === 'mute' || mode() === 'out');
  const intercept = (): void => void Object.assign(res, intercepted);
  intercept();
  return intercept;
}

/**
 * Keeps the status of a response as it is while `isFrozen`: what was answered first is what is charged for and sent, whatever a handler that
 * forgot to return, or an error after its response, would have in its place.
 */
export function freezeStatus(res: ServerResponse, isFrozen: () => boolean): void {
  takeManyProperties(res);
  for (const name of ['statusCode', 'statusMessage'] as const) {
    const beneath = Object.getOwnPropertyDescriptor(res, name);
    let own: unknown = res[name];
    Object.defineProperty(res, name, {
      configurable: true,
      enumerable: true,
      get: () => (beneath?.get === undefined ? own : Reflect.apply(beneath.get, res, [])),
      set(value: unknown) {
        if (isFrozen()) return;
        if (beneath?.set === undefined) own = value;
        else Reflect.apply(beneath.set, res, [value]);
      },
    });
  }
}

/**
 * Prepares a response for a dozen properties of its own. Express leaves each response a hidden class that no other has, which V8 copies
 * whole for every property that is added: 80 µs together. What something was taken from it keeps as a table, which takes them in 5.
 */
function takeManyProperties(res: ServerResponse): void {
  const request = Object.getOwnPropertyDescriptor(res, 'req');
  if (request === undefined || !Reflect.deleteProperty(res, 'req')) return;
  Object.defineProperty(res, 'req', request);
}

/** Sends nothing, and answers what the method would. */
export function nothing(res: ServerResponse, name: string, args: readonly unknown[]): unknown {
  callBack(args, (done) => process.nextTick(done, new Error('the answer is over, nothing more is sent')));
  if (name === 'write') return true;
  return RETURNS_RESPONSE.has(name) ? res : undefined;
}

/** Whether the head of the response has really left. */
export function isHeadSent(res: ServerResponse): boolean {
  return Boolean(Reflect.get(Object.getPrototypeOf(res), 'headersSent', res));
}

/** Hands the callback among the arguments of a method, if there is one, to whoever calls it. */
export function callBack(args: readonly unknown[], schedule: (done: (error?: Error) => void) => void): void {
  const done = args.find((it) => typeof it === 'function');
  if (typeof done === 'function')
    schedule((error) => Reflect.apply(done, undefined, error === undefined ? [] : [error]));
}
