import { escapeHtml } from './escape-html.js';
import { DARK, LIGHT, type PageColours } from './page-colours.js';

/** Whose page it is. */
export interface PageBrand {
  /** Name of the site. */
  readonly name?: string | undefined;
  /** A path on the same site, or a `data:` address. */
  readonly logo?: string | undefined;
  readonly light: PageColours;
  readonly dark: PageColours;
}

/** Nobody's in particular. */
export const NO_BRAND: PageBrand = { light: LIGHT, dark: DARK };

/** What stands above the content of a page. */
export function brandHeader({ name, logo }: PageBrand): string {
  if (name === undefined && logo === undefined) return '';
  const image = logo === undefined ? '' : `<img src="${escapeHtml(logo)}" alt="" height="32">`;
  return `<header class="brand">${image}${name === undefined ? '' : `<span>${escapeHtml(name)}</span>`}</header>\n`;
}
