import type { Request, Response } from 'express';
import { trimEnd } from '../../lib/trim-end.js';
import { addVary, keepPrivate } from '../../middleware/gate/cache-control.js';
import { mountAddress } from '../../middleware/gate/request-url.js';
import { setHeaders } from '../../middleware/gate/respond.js';
import { wantsPage } from '../../middleware/gate/wants-page.js';
import type { RenderedPage } from '../../pages/layout/page.js';
import { brandOf, type ResolvedPageOptions } from '../../pages/layout/page-options.js';
import type { ServiceShell } from '../../pages/service/service-page.js';
import { textsFor } from '../../pages/texts/languages.js';
import { createServiceTexts } from '../../pages/texts/service/service-languages.js';

/** Makes what stands around each page of the service. */
export type ShellFor = (req: Request) => ServiceShell;

/** What {@link createShellFor} works with. */
export interface ShellParts {
  readonly page: ResolvedPageOptions;
  /** Name of the service, where its brand has none. */
  readonly serviceName: string;
  readonly baseUrl: string | undefined;
  /** Paths of people's places, as they are mounted. */
  readonly places: ServiceShell['places'];
}

/** What a response was decided by that is a page for some, and JSON for others. */
const DECIDED_BY = 'Accept, Sec-Fetch-Dest';

/** Makes the shells of a service's pages, in its brand and in the reader's language. */
export function createShellFor({ page, serviceName, baseUrl, places }: ShellParts): ShellFor {
  const brand = brandOf(page);
  const serviceTexts = createServiceTexts(page.texts);
  return (req) => {
    const base = mountPath(req, baseUrl);
    const paths = Object.entries(places).map(([place, path]) => [place, `${base}${path}`]);
    return {
      texts: serviceTexts(req.get('Accept-Language')),
      payTexts: () => textsFor(req.get('Accept-Language'), page.texts),
      ...{ brand, serviceName, base },
      places: Object.fromEntries(paths),
    };
  };
}

/** Whether a reader of something that is a page for some is one of them. */
export function wantsPageInstead(req: Request, res: Response): boolean {
  addVary(res, DECIDED_BY);
  return wantsPage(req);
}

/** Sends a page: to its reader's eyes alone, since it is in that one's language and the nonce in it is good once. */
export function sendPage(res: Response, { html, headers }: RenderedPage): void {
  setHeaders(res, { 'Cache-Control': 'no-cache', ...headers });
  addVary(res, 'Accept-Language');
  keepPrivate(res);
  res.end(html);
}

/** Path under which readers reach the router, without a slash at its end. A page links by paths, whatever the host it is read at. */
export function mountPath(req: Request, baseUrl: string | undefined): string {
  const address = mountAddress(req, baseUrl);
  const path = URL.canParse(address) ? new URL(address).pathname : req.baseUrl;
  // Two slashes at the beginning would be another host.
  return trimEnd(path, '/').replace(/^\/+/, '/');
}
