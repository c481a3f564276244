/** A value that is known already, or a promise of one that has to be asked for. `await` takes either. */
export type MaybePromise<T> = T | Promise<T>;

/** Whether a value has to be waited for. Any promise counts, whoever's class it is of. */
export function isPending<T>(soon: MaybePromise<T>): soon is Promise<T> {
  if (typeof soon !== 'object' || soon === null) return false;
  const { then }: { readonly then?: unknown } = soon;
  return typeof then === 'function';
}

/** What is made of a value: now when it is known, else when it comes. What is known costs no promise and no turn of the queue. */
export function whenKnown<T, U>(soon: MaybePromise<T>, use: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return isPending(soon) ? soon.then(use) : use(soon);
}

/** What is made of a value, or of the fault by which it cannot be known. */
export function whenKnownOr<T, U>(
  ask: () => MaybePromise<T>,
  use: (value: T) => U,
  otherwise: (error: unknown) => U,
): MaybePromise<U> {
  try {
    const soon = ask();
    return isPending(soon) ? soon.then(use).catch(otherwise) : use(soon);
  } catch (error) {
    return otherwise(error);
  }
}
