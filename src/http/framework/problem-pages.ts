import type { Request, RequestHandler, Response } from 'express';
import { ERRORS } from '../../errors/errors.js';
import { addVary } from '../../middleware/gate/cache-control.js';
import { type ProblemPage, setHeaders, showProblems } from '../../middleware/gate/respond.js';
import { wantsPage } from '../../middleware/gate/wants-page.js';
import type { RenderedPage } from '../../pages/layout/page.js';
import { notFoundPage, outagePage } from '../../pages/service/problem-page.js';
import type { ShellFor } from './service-pages.js';

/** Shows browsers that open an address where nothing is, or that cannot be answered now, a page of the service. */
export function problemPages(shellFor: ShellFor): RequestHandler {
  return (req, res, next) => {
    showProblemPage(req, res, (code) => {
      const { status } = ERRORS[code];
      if (status === 404) return notFoundPage(shellFor(req));
      return status === 503 ? outagePage(shellFor(req), code) : undefined;
    });
    next();
  };
}

/**
 * Has a browser that opens an address shown a page where its request comes to a problem. What is said last counts.
 * @param pageOf - renders it; undefined where there is none for a code
 */
export function showProblemPage(
  req: Request,
  res: Response,
  pageOf: (code: Parameters<ProblemPage>[0]) => RenderedPage | undefined,
): void {
  if ((req.method !== 'GET' && req.method !== 'HEAD') || !wantsPage(req)) return;
  showProblems(res, (code) => {
    const page = pageOf(code);
    if (page === undefined) return false;
    setHeaders(res, page.headers);
    addVary(res, 'Accept-Language');
    res.end(page.html);
    return true;
  });
}
