/** A text with words in the place of their names in braces. */
export function filledWith(text: string, words: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => words[name] ?? whole);
}
