import { type Request, type RequestHandler, type Response, Router } from 'express';
import { groupBy } from '../../lib/group-by.js';
import { keepUncached } from '../../middleware/gate/cache-control.js';
import { sendProblem } from '../../middleware/gate/respond.js';
import { type CallerFor, callerOf } from './api-caller.js';
import { jsonBody } from './json-body.js';
import { type Operation, type OperationDescription, scopeOf } from './operation.js';
import type { OwnerTurns } from './owner-turns.js';
import { API, pathParameterNames } from './path.js';
import { problemHandler } from './problem-handler.js';

/** Operations that are mounted. */
export interface Routes {
  readonly router: Router;
  readonly operations: readonly OperationDescription[];
}

/** What several routes have in common. */
export interface SharedParts {
  /** What a request meets once its caller was let in. */
  readonly behindCaller?: readonly RequestHandler[];
  /** Among the callers of what may read much, and of what is brought much. Default: everybody at once. */
  readonly turns?: OwnerTurns;
}

const BODY_LIMIT = '100kb';
/** A body of more bytes may take long to check: a document, or fifty projects to look up. */
const MUCH_BYTES = 1_024;
/** Methods as `Allow` names them, in its order. */
const ALLOWED = [
  ['get', 'GET, HEAD'],
  ['post', 'POST'],
  ['patch', 'PATCH'],
  ['delete', 'DELETE'],
] as const;

/**
 * Makes the routes of operations. A request meets, in this order: its body, read as JSON where one is declared; the check of
 * its caller, of all that decides whether that one may call; what is given as `behindCaller`; the checks of its input; the handler. Other methods of a path are refused with 405.
 * @param parts - what the handlers work with
 * @param callerFor - checks who is calling; needed where an operation asks for a scope
 * @throws Error where an operation under `/api/v1` does not say who may call
 */
export function createRoutes<Parts>(
  operations: readonly Operation<Parts>[],
  parts: Parts,
  callerFor?: CallerFor,
  { behindCaller = [], turns }: SharedParts = {},
): Routes {
  const router = Router();
  // Express takes the first path that fits, and one with names fits others.
  const namedLast = [...operations].sort((a, b) => Number(hasNames(a)) - Number(hasNames(b)));
  for (const [path, some] of groupBy(namedLast, (it) => it.path)) {
    const route = router.route(path);
    for (const operation of some) {
      const before = [...handlersBefore(operation, callerFor), ...behindCaller];
      if (operation.head !== undefined) route.head(...before, operation.head);
      route[operation.method](
        ...before,
        handled((req, res) => {
          const run = () => operation.run(req, res, parts);
          const takesTurns = turns !== undefined && (operation.takesTurns || bringsMuch(req));
          return takesTurns ? turns.run(callerOf(req).wallet, run) : run();
        }),
      );
    }
    route.all(refuseOtherMethods(...allowedOf(some)));
  }
  router.use(problemHandler);
  return { router, operations };
}

function hasNames({ path }: OperationDescription): boolean {
  return pathParameterNames(path).length > 0;
}

/** Where it does not say how much, it may be anything. */
function bringsMuch({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > MUCH_BYTES;
}

function handlersBefore(operation: Operation<never>, callerFor: CallerFor | undefined): RequestHandler[] {
  const { path, body, bodies, noStore, admit } = operation;
  const scope = scopeOf(operation);
  if (operation.scope === undefined && path.startsWith(`${API}/`))
    throw new Error(`${path} does not say who may call: give it a scope, or scope: 'public'`);
  if (scope !== undefined && callerFor === undefined) throw new Error(`${path} needs to know who is calling`);
  return [
    ...(noStore ? [keepOutOfCaches] : []),
    ...(body === undefined && bodies === undefined ? [] : jsonBody(BODY_LIMIT)),
    ...(scope === undefined || callerFor === undefined ? [] : [callerFor(scope)]),
    ...(admit === undefined ? [] : [admission(admit)]),
  ];
}

function allowedOf(operations: readonly OperationDescription[]): string[] {
  return ALLOWED.flatMap(([name, allowed]) => (operations.some(({ method }) => method === name) ? allowed : []));
}

function admission(admit: (req: Request) => void): RequestHandler {
  return (req, _res, next) => {
    admit(req);
    next();
  };
}

/** It holds secrets, or is for its caller only. */
const keepOutOfCaches: RequestHandler = (_req, res, next) => {
  keepUncached(res);
  next();
};

/** A handler that responds later: its failure goes to the error handlers, in Express 4 as well, which does not wait for promises. */
export function handled(handle: (req: Request, res: Response) => Promise<void>): RequestHandler {
  return (req, res, next) => {
    handle(req, res).catch(next);
  };
}

/**
 * Responds 405 with `Allow`; goes behind all handlers of a path. A CORS preflight is let by.
 * @param allowed - the methods that the path responds to
 */
export function refuseOtherMethods(...allowed: string[]): RequestHandler {
  const list = allowed.join(', ');
  return (req, res, next) => {
    if (req.method === 'OPTIONS') return next();
    sendProblem(res, 'method_not_allowed', `${req.path} answers to ${list} only.`, { headers: { Allow: list } });
  };
}
