import { type Markup, markup } from '../layout/markup.js';
import type { RenderedPage } from '../layout/page.js';
import { type ServiceShell, servicePage } from '../service/service-page.js';
import { keyCommands } from './listing-examples.js';
import { freeCallsLine, priceLines } from './price-lines.js';
import type { ShownListing, ShownPrices } from './shown-listing.js';

/** An API that was opened without a service key. */
export interface KeyContent extends Pick<ShownListing, 'slug' | 'name' | 'description' | 'status' | 'free_calls'> {
  /** Whether the marketplace shows it. */
  readonly isListed: boolean;
  /** The call that was made, and what it costs; null where it is free. */
  readonly call: { readonly method: string; readonly url: string; readonly pricing: ShownPrices | null };
  /** Address of the service, where keys are made. */
  readonly server: string;
}

/** The page of an API that is called with a key: what it is, what a call costs, and how a key is had. */
export function keyPage(shell: ServiceShell, content: KeyContent): RenderedPage {
  const { texts } = shell;
  const { name, description, status, call, free_calls: free } = content;
  const isFree = call.pricing === null;
  return servicePage(shell, {
    title: name,
    content: markup`<h1>${name}</h1>
${status === 'down' ? markup`<p class="notice" role="status">${texts.resting}</p>` : undefined}
${description === null ? undefined : markup`<p class="words">${description}</p>`}
<p>${isFree ? texts.freeNote : texts.needsKey}</p>
<section class="card"><h2>${texts.price}</h2>
<p><code>${call.method} ${call.url}</code></p>
${priceLines(shell, call.pricing)}${isFree ? undefined : freeCallsLine(shell, free)}
${moreOfIt(shell, content)}</section>
${wayToKey(shell, content)}`,
    style: STYLE,
  });
}

function moreOfIt({ texts, places }: ServiceShell, { slug, isListed }: KeyContent): Markup | undefined {
  if (!isListed || places.marketplace === undefined) return undefined;
  return markup`<p><a href="${places.marketplace}/${encodeURIComponent(slug)}">${texts.moreOfApi}</a></p>`;
}

/** None where the service has no marketplace: nobody gets a key there over HTTP. */
function wayToKey({ texts, places }: ServiceShell, { call, server }: KeyContent): Markup | undefined {
  if (places.marketplace === undefined) return undefined;
  return markup`<section class="card"><h2>${texts.getKey}</h2>
<p>${texts.getKeyNote}</p>
<h3>${texts.fromTerminal}</h3>
<pre tabindex="0" role="group" aria-label="${texts.fromTerminal}">${keyCommands(server, call)}</pre>
<p><a href="${places.docs}#generateKey">${texts.getKeyByApi}</a></p></section>`;
}

const STYLE = '.words { white-space: pre-line; overflow-wrap: anywhere; } code { overflow-wrap: anywhere; }';
