const PREFIX = 'tollhouse ';

/**
 * Does what pays for something while no other tab of this browser pays for the same; waits where one does. Without Web Locks (http, or
 * storage that is switched off) it is done at once.
 * @param name - of what is paid for, on this site. Default: nobody waits
 * @param wait - called where another tab has its turn
 * @param work - is told whether another tab has had its turn meanwhile
 */
export async function inTurn(
  name: string | undefined,
  wait: () => void,
  work: (hasWaited: boolean) => Promise<void>,
): Promise<void> {
  const isDone = await underLock(name, { ifAvailable: true }, async (lock) => {
    if (lock !== null) await work(false);
    return lock !== null;
  });
  if (isDone === true) return;
  if (isDone === undefined) return work(false);
  wait();
  await underLock(name, {}, () => work(true));
}

/** Has other tabs wait, if none of them has its turn: what goes on with a payment that is signed waits for nobody. */
export async function keepTurn(name: string | undefined, work: () => Promise<void>): Promise<void> {
  let hasBegun = false;
  await underLock(name, { ifAvailable: true }, () => {
    hasBegun = true;
    return work();
  });
  if (!hasBegun) await work();
}

/** Undefined where there are no locks, and nothing was done. */
async function underLock<T>(
  name: string | undefined,
  options: LockOptions,
  work: (lock: Lock | null) => Promise<T>,
): Promise<T | undefined> {
  // A page over http has none.
  const locks = Reflect.get(navigator, 'locks') as LockManager | undefined;
  if (locks === undefined || name === undefined) return undefined;
  let hasBegun = false;
  try {
    return await locks.request(PREFIX + name, options, (lock) => {
      hasBegun = true;
      return work(lock);
    });
  } catch (error) {
    // Who switches cookies off switches locks off.
    if (hasBegun) throw error;
    return undefined;
  }
}
