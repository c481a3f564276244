import type { Resource } from '../protocol/challenge.js';
import { escapeHtml } from './escape-html.js';

/** What the paywall page shows. */
export interface PaywallContent {
  readonly resource: Resource;
  /** Prices as text, for instance `0.01 USDC`; any one of them opens the door. */
  readonly prices: readonly string[];
  /** Network as people call it. */
  readonly network: string;
  /** What a payment buys, in a sentence, where that is more than one request. */
  readonly offers?: string;
  /** A sentence on why an earlier payment was refused, if one was. */
  readonly problem?: string;
}

/** Nothing is loaded and no script runs; the style stands in the page. */
export const PAYWALL_CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const STYLE = `
:root { color-scheme: light dark; --line: #8884; }
body { font: 17px/1.5 system-ui, sans-serif; margin: 0; min-height: 100vh; display: grid; place-items: center; }
main { max-width: 34rem; margin: 2rem 1rem; padding: 2rem; border: 1px solid var(--line); border-radius: 12px; }
h1 { font-size: 1.5rem; margin: 0 0 .5rem; }
.price { font-size: 2rem; font-weight: 650; margin: 1rem 0 0; }
.muted { opacity: .7; margin-top: 0; }
.problem { border-left: 4px solid #c33; padding-left: .75rem; }
pre { padding: .75rem 1rem; border: 1px solid var(--line); border-radius: 8px; overflow-x: auto; font-size: .85rem; }
`;

/** The page that a browser gets instead of the JSON of a 402. */
export function paywallPage({ resource, prices, network, offers, problem }: PaywallContent): string {
  const title = resource.description ?? 'This page has a price';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Payment required</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
${problem === undefined ? '' : `<p class="problem">${escapeHtml(problem)}</p>`}
<p class="price">${prices.map(escapeHtml).join(' <small>or</small> ')}</p>
<p class="muted">${offers === undefined ? 'a request, paid' : `${escapeHtml(offers)} Paid`} on ${escapeHtml(network)}</p>
<p>Pay with any x402 client, or from a terminal:</p>
<pre>npx tollhouse pay ${escapeHtml(shellQuoted(resource.url))} --keypair wallet.json</pre>
</main>
</body>
</html>
`;
}

/** A URL as one word of a shell: the client chose it, and somebody pastes it. */
function shellQuoted(url: string): string {
  return `'${url.replaceAll("'", '%27')}'`;
}
