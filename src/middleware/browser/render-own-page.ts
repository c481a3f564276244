import { setTimeout as pause } from 'node:timers/promises';
import type { Request } from 'express';
import { z } from 'zod';
import { errorText } from '../../lib/error-text.js';
import { firstFault } from '../../lib/parsed.js';
import type { RenderPaywall } from '../../pages/layout/own-page.js';
import type { RenderedPage } from '../../pages/layout/page.js';
import { ownPageTerms } from '../../pages/paywall/own-page-terms.js';
import type { PaywallContent } from '../../pages/paywall/paywall-content.js';
import { paywallPage, paywallPieces } from '../../pages/paywall/paywall-page.js';

const HTML = 'HTML: a text of 1 to 1,000,000 characters';
const EITHER = `${HTML}; or { html, contentSecurityPolicy }`;
const POLICY = 'a policy in one line of at most 10,000 characters';
const html = z.string(HTML).min(1, HTML).max(1_000_000, HTML);
const contentSecurityPolicy = z
  .string(POLICY)
  .max(10_000, POLICY)
  .regex(/^[ -~]+$/, POLICY);
const ownPage = z.union(
  [
    html.transform((it) => ({ html: it })),
    z.strictObject({ html, contentSecurityPolicy: contentSecurityPolicy.optional() }, EITHER),
  ],
  EITHER,
);

/** So long a reader waits for it. */
const PATIENCE_SECONDS = 5;

/** The page that a seller's own function writes; the built-in one, and a warning, where it writes none. */
export async function renderOwnPage(
  render: RenderPaywall,
  content: PaywallContent,
  req: Request,
): Promise<RenderedPage> {
  const pieces = paywallPieces(content);
  try {
    const made = ownPage.safeParse(await inTime(render(ownPageTerms(content, pieces), req)));
    if (made.success) return { html: made.data.html, headers: { ...pieces.headers, ...policyOf(made.data) } };
    warn(`must answer ${firstFault(made.error.issues)}`);
  } catch (error) {
    warn(`threw: ${errorText(error)}`);
  }
  return paywallPage(content);
}

async function inTime(rendering: ReturnType<RenderPaywall>): Promise<unknown> {
  const over = new AbortController();
  const late = pause(PATIENCE_SECONDS * 1_000, undefined, { signal: over.signal }).then(() => {
    throw new Error(`no page within ${PATIENCE_SECONDS} seconds`);
  });
  try {
    return await Promise.race([rendering, late]);
  } finally {
    over.abort();
  }
}

function policyOf(page: z.output<typeof ownPage>): Readonly<Record<string, string>> {
  const policy = 'contentSecurityPolicy' in page ? page.contentSecurityPolicy : undefined;
  return policy === undefined ? {} : { 'Content-Security-Policy': policy };
}

/** Its reader sees the page of ours, and can pay. */
function warn(what: string): void {
  process.emitWarning(`"page.render" ${what}; the built-in page was sent instead`, { code: 'TOLLHOUSE_PAGE' });
}
