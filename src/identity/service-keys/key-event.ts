import { TollhouseError } from '../../errors/errors.js';
import { defined } from '../../lib/defined.js';
import { type Actor, actorOf } from '../../storage/audit/audit-log.js';
import { type EventRecord, type EventType, newEvent } from '../../storage/events/events.js';
import type { ServiceKeyFacts } from '../../storage/keys/service-keys.js';

/** The error for a change of a key that is revoked. */
export function keyRevoked(): TollhouseError {
  return new TollhouseError('not_found', 'The service key was revoked; make another.');
}

/** The event that tells what became of a key, and who did it. */
export function keyEvent(
  type: EventType,
  { id, publicKey, owner, projectId, ...facts }: ServiceKeyFacts,
  at: number,
  by: Actor,
): EventRecord {
  const { name, mode, scopes } = facts;
  const cause = { actor: actorOf(by), target: id, details: { name, scopes, ...defined({ projectId }) } };
  const project = defined({ projectId });
  return newEvent({ type, owner, ...project, data: { key_id: id, api_key: publicKey, name, mode, scopes }, cause }, at);
}
