/** A text without the copies of one character at its end. An expression such as `/x+$/` takes the square of its length. */
export function trimEnd(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}
