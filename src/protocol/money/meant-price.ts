const AMOUNT = String.raw`(\d+(?:\.\d+)?|\.\d+)`;
/** Usual ways to write a price that are none, and what is written instead. */
const MEANT: readonly (readonly [RegExp, (amount: string, symbol: string) => string])[] = [
  [new RegExp(String.raw`^\$\s*${AMOUNT}$`), (amount) => `$${amount}`],
  [new RegExp(String.raw`^${AMOUNT}\s*\$$`), (amount) => `$${amount}`],
  [new RegExp(String.raw`^${AMOUNT}\s*([a-z]\w*)$`, 'i'), (amount, symbol) => `${amount} ${symbol}`],
  [new RegExp(String.raw`^([a-z]+)\s*${AMOUNT}$`, 'i'), (symbol, amount) => `${amount} ${symbol}`],
];

/** A price as it was probably meant: `1USDC` as `1 USDC`, `$.5` as `$0.5`; undefined when nothing is near. */
export function meantPrice(text: string): string | undefined {
  for (const [pattern, rewrite] of MEANT) {
    const [, first, second = ''] = pattern.exec(text) ?? [];
    if (first !== undefined) return rewrite(withZero(first), withZero(second));
  }
  return undefined;
}

function withZero(part: string): string {
  return part.startsWith('.') ? `0${part}` : part;
}
