import { IncomingMessage, ServerResponse } from 'node:http';

/**
 * `express.request` or `express.response`: what the requests, or responses, of all apps of one Express inherit from, and what Express has
 * others extend. A property of a request's own costs as much as a tenth of a short response, since Express gives each request and each
 * response a prototype of its app, after which V8 makes a hidden class for every one of them; a property here costs next to nothing.
 * Undefined for what does not come from an app of Express.
 */
export function expressPrototype(message: IncomingMessage | ServerResponse): object | undefined {
  let below: object | undefined;
  let prototype: object | null = Object.getPrototypeOf(message);
  while (prototype !== null && !NODES_OWN.includes(prototype)) {
    below = prototype;
    prototype = Object.getPrototypeOf(prototype);
  }
  return prototype === null ? undefined : below;
}

const NODES_OWN: readonly object[] = [IncomingMessage.prototype, ServerResponse.prototype];
