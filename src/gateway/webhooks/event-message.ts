import { type MoneyMode, modeOf, networkFrom } from '../../protocol/networks/networks.js';
import type { EventData, EventRecord, EventType } from '../../storage/events/events.js';

/** An event as webhooks, streams and lists show it. */
export interface EventMessage {
  /** `evt_…`. */
  readonly id: string;
  readonly type: EventType;
  /** When it happened, RFC 3339. */
  readonly timestamp: string;
  /** The project it belongs to; null for none. */
  readonly project_id: string | null;
  /** What money it is about: `live` on mainnet, `test` elsewhere; null where it is about none, or not about that of one network. */
  readonly mode: MoneyMode | null;
  readonly data: EventData;
}

/** The message of an event; the same each time. */
export function eventMessage({ id, type, at, projectId, data }: EventRecord): EventMessage {
  return { id, type, timestamp: new Date(at).toISOString(), project_id: projectId ?? null, mode: modeIn(data), data };
}

/** Keys have a mode; whatever else is about money says its network. */
function modeIn({ mode, network }: EventData): MoneyMode | null {
  if (mode === 'live' || mode === 'test') return mode;
  const known = typeof network === 'string' ? networkFrom(network) : undefined;
  return known === undefined ? null : modeOf(known);
}
