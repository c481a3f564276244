import type { Request } from 'express';

/** The handlers of the route that Express has found for a request; none before it has found one. */
export function routeHandlers({ route }: Request): readonly unknown[] {
  const stack: unknown = Reflect.get(Object(route), 'stack');
  return Array.isArray(stack) ? stack.map((layer) => Reflect.get(Object(layer), 'handle')) : [];
}
