import type { IncomingMessage } from 'node:http';
import { expressPrototype } from './express-prototype.js';
import type { Later } from './later.js';
import { createRequestNote, type RequestNote } from './request-note.js';

/** A property of requests, and where it is had. */
interface Property {
  readonly values: RequestNote<object, Later<unknown>>;
  readonly on: WeakSet<object>;
}

const properties = new Map<string, Property>();

/**
 * Puts a property on a request. One of Express has it by a getter of `express.request`, which costs less than a property of its own; written
 * by anybody else, it becomes one of its own.
 */
export function putProperty(req: IncomingMessage, name: string, value: Later<unknown>): void {
  const property = properties.get(name) ?? { values: createRequestNote(), on: new WeakSet() };
  properties.set(name, property);
  if (!isShared(req, name, property)) Reflect.set(req, name, value.get());
  else property.values.put(req, value);
}

/** Whether a request has a property by the getter; from the first one on all of its Express have. */
function isShared(req: IncomingMessage, name: string, { values, on }: Property): boolean {
  const shared = expressPrototype(req);
  if (shared === undefined) return false;
  // Whoever has put one of that name there, or on an app's own, sees to it himself.
  if (isOverridden(req, name, shared)) return false;
  if (on.has(shared)) return true;
  if (name in shared) return false;
  on.add(shared);
  Object.defineProperty(shared, name, {
    configurable: true,
    get(this: object) {
      return values.of(this)?.get();
    },
    set(this: object, own: unknown) {
      Object.defineProperty(this, name, { configurable: true, enumerable: true, writable: true, value: own });
    },
  });
  return true;
}

/** Whether an app's own requests have a property that those of all apps of its Express have as well, or may have. */
function isOverridden(req: IncomingMessage, name: string, shared: object): boolean {
  for (let own: object | null = req; own !== null && own !== shared; own = Object.getPrototypeOf(own)) {
    if (Object.hasOwn(own, name)) return true;
  }
  return false;
}
