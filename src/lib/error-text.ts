/** What was thrown, as text: anything can be, also what cannot be made one. */
export function errorText(error: unknown): string {
  try {
    return String(error);
  } catch {
    return 'something that cannot be told';
  }
}
