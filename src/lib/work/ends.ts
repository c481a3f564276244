/**
 * Ends one part after the other, each though one before it could not be ended well: what is left open keeps its process alive.
 * @throws the first fault, once all are over
 */
export async function endInTurn(...ends: readonly (() => unknown)[]): Promise<void> {
  const faults: unknown[] = [];
  for (const end of ends) {
    try {
      await end();
    } catch (error) {
      faults.push(error);
    }
  }
  if (faults.length > 0) throw faults[0];
}

/**
 * The same for parts that end at the same time; undefined is over.
 * @throws the first fault, once all are over
 */
export async function endTogether(...endings: readonly (Promise<unknown> | undefined)[]): Promise<void> {
  const over = await Promise.allSettled(endings);
  for (const it of over) if (it.status === 'rejected') throw it.reason;
}
