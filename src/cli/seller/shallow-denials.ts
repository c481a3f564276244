import { projectResponse } from '../../http/projects/schemas.js';
import { tellStep } from '../output/terminal.js';
import { understood } from '../session/session.js';

/**
 * Says on standard error which of a project's routes deny one segment only, where all below was likely meant: what is deeper is sold.
 * @param sent - what the server was sent: nothing is said where it names no routes
 * @param answer - the project as the server has it now
 */
export function warnOfShallowDenials(sent: object, answer: unknown): void {
  if (!('routes' in sent)) return;
  const denying = understood(projectResponse, answer).routes.filter(({ deny }) => deny !== null);
  for (const { method, path } of denying) {
    if (!path.endsWith('/*')) continue;
    const deep = `${path}*`;
    const isCovered = denying.some((it) => it.path === deep && (it.method === null || it.method === method));
    if (!isCovered) tellStep('warning', `"${path}" denies one segment only; "${deep}" denies all below`);
  }
}
