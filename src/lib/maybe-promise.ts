/** A value that is known already, or a promise of one that has to be asked for. `await` takes either. */
export type Soon<T> = T | Promise<T>;

/** Whether a value has to be waited for. Any promise counts, whoever's class it is of. */
export function isPending<T>(soon: Soon<T>): soon is Promise<T> {
  if (typeof soon !== 'object' || soon === null) return false;
  const { then }: { readonly then?: unknown } = soon;
  return typeof then === 'function';
}

/** What is made of a value: now when it is known, else when it comes. What is known costs no promise and no turn of the queue. */
export function whenKnown<T, U>(soon: Soon<T>, use: (value: T) => Soon<U>): Soon<U> {
  return isPending(soon) ? soon.then(use) : use(soon);
}

/** What is made of a value, or of the fault by which it cannot be known. */
export function whenKnownOr<T, U>(ask: () => Soon<T>, use: (value: T) => U, otherwise: (error: unknown) => U): Soon<U> {
  try {
    const soon = ask();
    return isPending(soon) ? soon.then(use).catch(otherwise) : use(soon);
  } catch (error) {
    return otherwise(error);
  }
}
