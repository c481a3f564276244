import { plain } from '../../lib/plain-text.js';
import { none, readArguments, SERVER_FLAGS } from '../arguments/arguments.js';
import { jsonText } from '../output/terminal.js';
import { untilStopped } from '../output/until-stopped.js';
import { openSession } from '../session/session.js';
import { selectProject } from './find-project.js';
import { followEvents, type StreamedEvent } from './follow-events.js';
import { createForwarder } from './forward-events.js';

const OPTIONS = {
  ...SERVER_FLAGS,
  project: { type: 'string' },
  types: { type: 'string' },
  forward: { type: 'string' },
} as const;
const TYPE_WIDTH = 27;

/** `tollhouse webhooks listen`: events as they come, until it is stopped. */
export async function listenCommand(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, OPTIONS);
  none(positionals, 'tollhouse webhooks listen');
  const { server, json, project, types, forward } = values;
  const forwarder =
    forward === undefined ? undefined : createForwarder(forward, process.env['WEBHOOK_SECRET'] || undefined);
  const session = openSession(server);
  const query = new URLSearchParams();
  if (types !== undefined) query.set('types', types);
  if (project !== undefined) query.set('project_id', (await selectProject(session, project)).id);
  if (forwarder !== undefined) note(`forwarding to ${forward}, signed with ${forwarder.secret}`);
  await followEvents(session, {
    query,
    signal: untilTold(),
    async onEvent(event) {
      console.log(json ? jsonText(event) : lineOf(event));
      const outcome = await forwarder?.forward(event);
      if (outcome !== undefined) note(`  → ${outcome}`);
    },
    onConnected: () => note(`listening at ${session.server}`),
    onInterrupted: note,
  });
  return 0;
}

/** Beside the events: on standard error. */
function note(text: string): void {
  console.error(text);
}

/** Aborted when the user stops it, or whoever reads the events has enough. */
function untilTold(): AbortSignal {
  const stop = new AbortController();
  const abort = () => stop.abort();
  untilStopped().then(abort);
  process.stdout.once('error', abort);
  return stop.signal;
}

function lineOf({ type, timestamp, data }: StreamedEvent): string {
  const facts = Object.entries(data).map(([name, value]) => `${name}=${factText(value)}`);
  return plain(`${timestamp.slice(11, 19)} ${type.padEnd(TYPE_WIDTH)} ${facts.join(' ')}`);
}

function factText(value: unknown): string {
  return typeof value === 'string' && !/[\s"=]/.test(value) ? value : (JSON.stringify(value) ?? '');
}
