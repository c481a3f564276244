const SHORTEST_BEGINNING = 3;
/** Of so few characters, with two wrong, any word may have been meant. */
const SHORT = 4;

/**
 * The candidate that a mistyped text most probably meant, or undefined when none is near. Letter case is ignored.
 * @param most - most characters that may be wrong, two that have changed places counted once; default: one of up to four, else a third of
 *   them, two at least
 */
export function didYouMean(
  text: string,
  candidates: readonly string[],
  most = text.length <= SHORT ? 1 : Math.max(2, Math.floor(text.length / 3)),
): string | undefined {
  const wanted = text.toLowerCase();
  const limit = Math.min(most, wanted.length - 1);
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: editDistance(wanted, candidate.toLowerCase(), limit) }))
    // One of which no letter is left resembles nothing.
    .filter(({ candidate, distance }) => distance <= limit && distance < candidate.length)
    .sort((a, b) => a.distance - b.distance);
  return ranked[0]?.candidate ?? begunWith(wanted, candidates);
}

/** The one candidate that is longer by what was left out at its end. */
function begunWith(wanted: string, candidates: readonly string[]): string | undefined {
  const [only, ...others] = candidates.filter((it) => it.toLowerCase().startsWith(wanted));
  return wanted.length >= SHORTEST_BEGINNING && others.length === 0 ? only : undefined;
}

/**
 * Damerau's distance, in which two neighbours that have changed places count once, row by row; texts whose lengths differ by more than
 * `limit` are not compared.
 */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  const first = Array.from({ length: b.length + 1 }, (_, index) => index);
  let [beforeThat, previous]: [number[], number[]] = [first, first];
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const substitution = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const isSwap = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const swap = isSwap ? (beforeThat[column - 2] ?? 0) + 1 : substitution;
      current.push(Math.min(substitution, swap, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    [beforeThat, previous] = [previous, current];
  }
  return previous[b.length] ?? 0;
}
