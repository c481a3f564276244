import type { Request, Response } from 'express';
import { routeLabelOf } from '../../../middleware/tracing/route-label.js';
import { createLabelBound, type FiguresHome, OTHER, SECONDS } from './home.js';

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** Routes are written by developers, and those of an app may be many. */
const MOST_ROUTES = 300;

/** Counts a request when its response is over. */
export type CountRequest = (req: Request, res: Response, seconds: number) => void;

/** Adds requests by the pattern of their route. A stranger chooses methods, and none of the patterns. */
export function addRequests({ client, registry }: FiguresHome): CountRequest {
  const registers = [registry];
  const requests = new client.Counter({
    name: 'tollhouse_http_requests_total',
    help: 'Requests by route and status of the answer',
    labelNames: ['method', 'route', 'status'],
    registers,
  });
  const times = new client.Histogram({
    name: 'tollhouse_http_request_seconds',
    help: 'Time until the end of the response',
    labelNames: ['route'],
    buckets: SECONDS,
    registers,
  });
  const bound = createLabelBound(MOST_ROUTES);
  return (req, res, seconds) => {
    const route = bound(routeLabelOf(req));
    const method = METHODS.has(req.method) ? req.method : OTHER;
    requests.inc({ method, route, status: res.writableFinished ? String(res.statusCode) : 'aborted' });
    times.observe({ route }, seconds);
  };
}
