/**
 * A number with what it counts: `1 payment`, `2 payments`.
 * @param many - what more than one is called. Default: with an s
 */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
