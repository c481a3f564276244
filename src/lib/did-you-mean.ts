const SHORTEST_BEGINNING = 3;

/**
 * The candidate that a mistyped text most probably meant, or undefined when none is near. Letter case is ignored.
 * @param most - most characters that may be wrong; default: a third of them, two at least
 */
export function didYouMean(
  text: string,
  candidates: readonly string[],
  most = Math.max(2, Math.floor(text.length / 3)),
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

/** Levenshtein's distance, row by row; texts whose lengths differ by more than `limit` are not compared. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const substitution = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(substitution, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
