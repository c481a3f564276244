/** Resolves when a condition of the outside world holds; looks every other millisecond. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 2));
}
