import { ELEMENT_SCRIPT } from '../../pages/client-scripts.js';
import { isExpress } from '../gate/express-only.js';
import { asMiddleware, type Middleware } from '../gate/gate.js';
import { setHeaders } from '../gate/respond.js';

const HEADERS = {
  'Content-Type': 'text/javascript; charset=utf-8',
  // It is asked for again by its ETag, which costs nothing: an update of this package is there with the next page.
  'Cache-Control': 'public, no-cache',
  'X-Content-Type-Options': 'nosniff',
  // It holds nothing of anybody: pages of every origin may run it.
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
};

/**
 * Express middleware that answers with the script of the paywall for a site's own pages: `app.get('/tollhouse.js', paywallScript())`, and in
 * a page `<script type="module" src="/tollhouse.js"></script>` with `<tollhouse-paywall src="/articles/1">its preview</tollhouse-paywall>`.
 */
export function paywallScript(): Middleware {
  return asMiddleware(function tollhouseScript(req, res, next) {
    if (!isExpress('paywallScript', req, next)) return;
    if (req.method !== 'GET' && req.method !== 'HEAD') return next();
    setHeaders(res, HEADERS);
    // Express makes the ETag, and the 304.
    res.send(ELEMENT_SCRIPT);
  });
}
