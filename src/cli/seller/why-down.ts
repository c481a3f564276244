import { EVENTS_PATHS, eventsResponse } from '../../http/events/schemas.js';
import { projectItemResponse } from '../../http/projects/schemas.js';
import { printStep } from '../output/terminal.js';
import { type ServerSession, understood } from '../session/session.js';

/** Says since when the upstream of a project is down and what was found, which is in the event that told of it. */
export async function printWhyDown(session: ServerSession, project: unknown): Promise<void> {
  const { id, upstream } = understood(projectItemResponse, project);
  if (upstream.status !== 'down' || upstream.down_since === null) return;
  const query = new URLSearchParams({ types: 'project.upstream_down', project_id: id, limit: '1' });
  const [event] = understood(eventsResponse, await session.get(`${EVENTS_PATHS.all}?${query}`)).data;
  printStep('down', `since ${upstream.down_since}: ${foundIn(event?.data)}`);
}

function foundIn(data: Readonly<Record<string, unknown>> = {}): string {
  const { reason, status } = data;
  if (typeof status === 'number') return `it answers ${status}`;
  if (reason === 'timeout') return 'it does not answer in time';
  return typeof reason === 'string' ? `it is ${reason}` : 'its event is no longer kept';
}
