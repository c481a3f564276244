import { projectResponse } from '../../http/projects/schemas.js';
import { tellStep } from '../output/terminal.js';
import { understood } from '../session/session.js';

/** What decides whether calls are sold, as far as it is looked at here. */
interface DenyingRoute {
  readonly method?: string | null | undefined;
  readonly path: string;
  readonly deny?: number | null | undefined;
}

/**
 * Says on standard error which of a project's routes deny one segment only, where all below was likely meant: what is deeper is sold.
 * @param sent - what the server was sent: nothing is said where it names no routes
 * @param answer - the project as the server has it now
 */
export function warnOfShallowDenials(sent: object, answer: unknown): void {
  if ('routes' in sent) warnOfShallowRoutes(understood(projectResponse, answer).routes);
}

/** The same of the routes that a project would have. */
export function warnOfShallowRoutes(routes: readonly DenyingRoute[]): void {
  const denying = routes.filter(({ deny }) => typeof deny === 'number');
  for (const { method, path } of denying) {
    if (!path.endsWith('/*')) continue;
    const deep = `${path}*`;
    const isCovered = denying.some((it) => it.path === deep && (isAny(it) || it.method === method));
    if (!isCovered) tellStep('warning', `"${path}" denies one segment only; "${deep}" denies all below`);
  }
}

function isAny({ method }: DenyingRoute): boolean {
  return method === null || method === undefined;
}
