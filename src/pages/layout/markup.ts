import { escapeHtml } from './escape-html.js';

/** HTML that is ours: whatever else stands in it was escaped. Made by {@link markup} alone. */
export class Markup {
  /** As it goes into a page. */
  readonly html: string;

  constructor(html: string) {
    this.html = html;
  }
}

/** What may stand in {@link markup}: texts are escaped, and of what is missing nothing is seen. */
export type Shown = Markup | string | number | undefined | readonly Shown[];

/** Writes HTML in which every value is escaped but those that were written so: `` markup`<p>${text}</p>` ``. */
export function markup(texts: TemplateStringsArray, ...values: readonly Shown[]): Markup {
  return new Markup(texts.map((text, at) => text + htmlOf(values[at])).join(''));
}

function htmlOf(value: Shown): string {
  if (value === undefined) return '';
  if (value instanceof Markup) return value.html;
  return typeof value === 'object' ? value.map(htmlOf).join('') : escapeHtml(String(value));
}
