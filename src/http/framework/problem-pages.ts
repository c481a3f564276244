import type { RequestHandler } from 'express';
import { ERRORS } from '../../errors/errors.js';
import { addVary } from '../../middleware/gate/cache-control.js';
import { setHeaders, showProblems } from '../../middleware/gate/respond.js';
import { wantsPage } from '../../middleware/gate/wants-page.js';
import { notFoundPage, outagePage } from '../../pages/service/problem-page.js';
import type { ShellFor } from './service-pages.js';

/** Shows browsers that open an address where nothing is, or that cannot be answered now, a page of the service. */
export function problemPages(shellFor: ShellFor): RequestHandler {
  return (req, res, next) => {
    if ((req.method === 'GET' || req.method === 'HEAD') && wantsPage(req)) {
      showProblems(res, (code) => {
        const { status } = ERRORS[code];
        if (status !== 404 && status !== 503) return false;
        const { html, headers } = status === 404 ? notFoundPage(shellFor(req)) : outagePage(shellFor(req), code);
        setHeaders(res, headers);
        addVary(res, 'Accept-Language');
        res.end(html);
        return true;
      });
    }
    next();
  };
}
