import { randomBytes } from 'node:crypto';
import { baseStyle } from './base-style.js';
import { embeddedJson } from './embedded-json.js';
import { escapeHtml } from './escape-html.js';
import type { PageBrand } from './page-brand.js';
import { contentSecurityPolicy } from './security-policy.js';

/** What a page is made of. */
export interface PageParts {
  /** Language of its texts, as in BCP 47. */
  readonly language: string;
  readonly title: string;
  /** Whose page it is. */
  readonly brand: PageBrand;
  /** Path of its icon on the same site, or a `data:` address. Default: the logo of the brand, if there is one. */
  readonly icon?: string | undefined;
  /** Markup of its body: whatever is not ours in it is escaped already. */
  readonly body: string;
  /** Rules beside those of all pages. Default: none. */
  readonly style?: string;
  /** Script of the page, one of ours. Default: none. */
  readonly script?: string;
  /** What the script works with, as JSON in the element `data`. Default: nothing. */
  readonly data?: unknown;
}

/** A page as it goes over the wire. */
export interface RenderedPage {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What of a page goes under a policy: its style and its script, with the nonce that lets them in. */
export interface PageTags {
  readonly nonce: string;
  /** Markup of its rules. */
  readonly style: string;
  /** Markup of its script and of what that works with; empty where it has none. */
  readonly script: string;
  /** Headers that it goes with. */
  readonly headers: Readonly<Record<string, string>>;
}

const NONCE_BYTES = 18;

/** Makes the tags of a page with a nonce of their own, and the policy which lets nothing else run. */
export function pageTags(parts: Pick<PageParts, 'brand' | 'style' | 'script' | 'data'>): PageTags {
  const { brand, style = '', script, data } = parts;
  const nonce = randomBytes(NONCE_BYTES).toString('base64');
  const json = data === undefined ? '' : `<script type="application/json" id="data">${embeddedJson(data)}</script>\n`;
  return {
    nonce,
    style: `<style nonce="${nonce}">${baseStyle(brand.light, brand.dark)}${style}</style>`,
    script: script === undefined ? '' : `${json}<script nonce="${nonce}">${script}</script>\n`,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': contentSecurityPolicy(nonce),
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'same-origin',
    },
  };
}

/** Renders a page, under a policy which lets nothing run in it but what is ours. */
export function renderPage(parts: PageParts): RenderedPage {
  const { language, title, brand, icon = brand.logo, body } = parts;
  const { style, script, headers } = pageTags(parts);
  const html = `<!doctype html>
<html lang="${escapeHtml(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
${icon === undefined ? '' : `<link rel="icon" href="${escapeHtml(icon)}">\n`}${style}
</head>
<body>
${body}
${script}</body>
</html>
`;
  return { html, headers };
}
