import { isDeepStrictEqual } from 'node:util';
import { defined } from '../../lib/defined.js';
import { type Actor, actorOf } from '../../storage/audit/audit-log.js';
import { type EventRecord, type EventType, newEvent } from '../../storage/events/events.js';
import type { ProjectOpenApi, ProjectRecord, ProjectSettings, ProjectState } from '../../storage/projects/projects.js';
import { renewedSecret } from './gateway-secret.js';

/** What becomes of a project. */
export interface ProjectChange {
  readonly type: EventType;
  /** The project afterwards, but for its version and time. */
  readonly project: ProjectRecord;
  /** The document afterwards. */
  readonly openapi: ProjectOpenApi | 'keep';
  /** Fields that change, by the names that clients know them by. */
  readonly changed: readonly string[];
}

/** Fields of the settings that have another name for clients. */
const WIRE_NAMES: Readonly<Record<string, string>> = { price: 'pricing', freeCalls: 'free_calls' };

/** Other settings, another document; undefined when all is as it was. */
export function changedSettings(
  before: ProjectRecord,
  settings: ProjectSettings,
  documents: { readonly before: ProjectOpenApi; readonly after: ProjectOpenApi },
): ProjectChange | undefined {
  // What the settings leave out is taken away.
  const project: ProjectRecord = { ...withoutOptional(before), ...settings };
  const names = [...new Set([...Object.keys(before), ...Object.keys(project)])];
  const fields = names.filter((name) => !isDeepStrictEqual(Reflect.get(before, name), Reflect.get(project, name)));
  const isNewDocument = !isDeepStrictEqual(documents.before, documents.after);
  const changed = [...fields.map((name) => WIRE_NAMES[name] ?? name), ...(isNewDocument ? ['openapi'] : [])];
  if (changed.length === 0) return undefined;
  return { type: 'project.updated', project, openapi: isNewDocument ? documents.after : 'keep', changed };
}

const STATE_EVENTS = {
  active: 'project.updated',
  paused: 'project.paused',
  deleted: 'project.deleted',
} as const satisfies Record<ProjectState, EventType>;

/** Another state; undefined when it is that already. */
export function changedState(before: ProjectRecord, state: ProjectState): ProjectChange | undefined {
  if (before.state === state) return undefined;
  const isDeleted = state === 'deleted';
  const project = { ...(isDeleted ? remainsOf(before) : before), state };
  return { type: STATE_EVENTS[state], project, openapi: isDeleted ? undefined : 'keep', changed: ['state'] };
}

/**
 * What is kept of a project that is deleted: whose it was, on which network, its slug. Nobody can read or change it any more, so what
 * its owner has written goes, and what he has entrusted to it.
 */
function remainsOf(project: ProjectRecord): ProjectRecord {
  const { amount, token, network } = project.price;
  const { url, timeoutMs } = project.upstream;
  return { ...withoutOptional(project), tags: [], price: { amount, token, network }, upstream: { url, timeoutMs } };
}

/** A project without those of its settings that one need not have. */
function withoutOptional(project: ProjectRecord): ProjectRecord {
  const { description: _description, metadata: _metadata, example: _example, allowed: _allowed, ...kept } = project;
  const { routes: _routes, freeCalls: _freeCalls, ...rest } = kept;
  return rest;
}

/** A new gateway secret; calls are signed with the one before for so many milliseconds more, by default a day. */
export function changedSecret(before: ProjectRecord, now: number, overlapMs?: number): ProjectChange {
  const project = { ...before, ...renewedSecret(before, now, overlapMs) };
  return { type: 'project.updated', project, openapi: 'keep', changed: ['gateway_secret'] };
}

/** How a project came to be as it is. */
export interface ProjectCause {
  readonly by: Actor;
  /** Fields that have changed. Default: it is new. */
  readonly changed?: readonly string[];
  readonly before?: ProjectRecord;
}

/** The event that tells of a project, and of whom it comes. Neither secrets nor the upstream's address are in it. */
export function projectEvent(type: EventType, project: ProjectRecord, now: number, cause: ProjectCause): EventRecord {
  const { id, slug, name, owner, state, visibility, version, price } = project;
  const { changed, by, before } = cause;
  const data = { id, slug, name, state, visibility, version, network: price.network, ...defined({ changed }) };
  const split = changed?.includes('split') ? { split: project.split, split_before: before?.split } : {};
  const details = { slug, state, version, ...defined({ changed }), ...split };
  return newEvent({ type, owner, projectId: id, data, cause: { actor: actorOf(by), target: id, details } }, now);
}
