const ESCAPED = /[<>&\u2028\u2029]/g;

/** JSON as it may stand in a script element: no value in it can close the element or open another. */
export function embeddedJson(value: unknown): string {
  return JSON.stringify(value).replace(
    ESCAPED,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
