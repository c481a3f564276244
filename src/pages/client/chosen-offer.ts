import type { PageOffer } from '../paywall/paywall-data.js';

/** The offer that is chosen in the page: the first where there is no choice. */
export function chosenOffer(offers: readonly PageOffer[]): PageOffer | undefined {
  const checked = document.querySelector<HTMLInputElement>('input[name=offer]:checked');
  return offers[Number(checked?.value ?? 0)];
}
