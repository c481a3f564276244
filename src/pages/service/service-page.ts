import { type Markup, markup } from '../layout/markup.js';
import { type RenderedPage, renderPage } from '../layout/page.js';
import type { PageBrand } from '../layout/page-brand.js';
import type { PageTexts } from '../texts/page-texts.js';
import type { ServiceTexts } from '../texts/service/service-texts.js';
import { SERVICE_STYLE } from './service-style.js';

/** Parts of the service that people go to. */
export type ServicePlace = 'home' | 'marketplace' | 'docs';

/** What stands around every page of the service. */
export interface ServiceShell {
  readonly texts: ServiceTexts;
  /** What is said of prices and of paying them, in the same language. */
  readonly payTexts: () => PageTexts;
  readonly brand: PageBrand;
  /** Name of the service, where its brand has none. */
  readonly serviceName: string;
  /** Path on this site of the service, without a slash at its end. */
  readonly base: string;
  /** Paths on this site of the places that there are. */
  readonly places: Readonly<Partial<Record<ServicePlace, string>>>;
}

/** What is one page's own. */
export interface ServicePageParts {
  readonly title: string;
  /** Where it belongs. Default: nowhere. */
  readonly place?: ServicePlace;
  readonly content: Markup;
  readonly style?: string;
  readonly script?: string;
  readonly data?: unknown;
}

const ICON_PATH = '/payments/icon.svg';
const PLACES = ['home', 'marketplace', 'docs'] as const;

/** Renders a page of the service. */
export function servicePage(
  shell: ServiceShell,
  { title, place, content, style = '', ...more }: ServicePageParts,
): RenderedPage {
  const { texts, brand, serviceName, base } = shell;
  const name = brand.name ?? serviceName;
  const body = markup`<a class="skip" href="#content">${texts.skip}</a>
${header(shell, name, place)}
<main id="content">
${content}
</main>
<footer>${texts.forPrograms}</footer>`;
  return renderPage({
    language: texts.language,
    title: title === name ? name : `${title} · ${name}`,
    brand,
    icon: brand.logo ?? `${base}${ICON_PATH}`,
    body: body.html,
    style: SERVICE_STYLE + style,
    ...more,
  });
}

function header({ texts, brand, places }: ServiceShell, name: string, here: ServicePlace | undefined): Markup {
  const logo = brand.logo === undefined ? undefined : markup`<img src="${brand.logo}" alt="" height="32">`;
  const links = PLACES.map((place) => {
    const path = places[place];
    const current = place === here ? markup` aria-current="page"` : undefined;
    return path === undefined ? undefined : markup`<li><a href="${path}"${current}>${texts[place]}</a></li>`;
  });
  return markup`<header class="top"><a class="brand" href="${places.home}">${logo}<span>${name}</span></a>
<nav><ul>${links}</ul></nav></header>`;
}
