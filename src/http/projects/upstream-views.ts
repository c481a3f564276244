import type { ProjectDraft } from '../../gateway/projects/project-draft.js';
import { writtenOf } from '../../gateway/upstream-secrets/sealed-additions.js';
import { DEFAULT_RETRIES, type ProjectRecord, type SealedTexts } from '../../storage/projects/projects.js';
import type { ResponseBody } from '../framework/fields.js';
import type { ProjectBody, projectItemResponse } from './schemas.js';

const SECOND_MS = 1_000;

/** What a client wrote of an upstream, as the gateway takes it. */
export function draftOfUpstream({
  timeout_ms,
  health,
  ...upstream
}: ProjectBody['upstream']): ProjectDraft['upstream'] {
  const intervalMs = health?.interval === undefined ? undefined : health.interval * SECOND_MS;
  return { ...upstream, timeoutMs: timeout_ms, health: health && { path: health.path, intervalMs } };
}

/** The same as a client would have written it. */
export function bodyOfUpstream({ timeoutMs, health, ...upstream }: ProjectDraft['upstream']): object {
  const interval = health?.intervalMs === undefined ? undefined : health.intervalMs / SECOND_MS;
  return { ...upstream, timeout_ms: timeoutMs, health: health && { path: health.path, interval } };
}

/** An upstream as its owner sees it: of secrets the names. */
export function upstreamView({
  upstream: { url, timeoutMs, retries = DEFAULT_RETRIES, headers, query, health },
  upstreamCheckedAt,
  upstreamDownSince,
}: ProjectRecord): ResponseBody<typeof projectItemResponse>['upstream'] {
  const isDown = upstreamDownSince !== undefined;
  return {
    url,
    timeout_ms: timeoutMs,
    retries,
    headers: shownSecrets(headers),
    query: shownSecrets(query),
    health: health === undefined ? null : { path: health.path, interval: health.intervalMs / SECOND_MS },
    status: upstreamCheckedAt === undefined ? null : isDown ? 'down' : 'up',
    down_since: isDown ? new Date(upstreamDownSince).toISOString() : null,
  };
}

function shownSecrets(sealed: SealedTexts | undefined): Record<string, { set: true }> {
  return Object.fromEntries(Object.keys(writtenOf(sealed) ?? {}).map((name) => [name, { set: true }]));
}

/**
 * A merge patch whose header fields have the names that they are kept under: in lower case. Where two are the same then, it stays as
 * it is, and is refused for them.
 */
export function withPlainNames(patch: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const upstream = recordOf(patch['upstream']);
  const headers = recordOf(upstream?.['headers']);
  if (headers === undefined) return patch;
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  if (new Set(lower.map(([name]) => name)).size < lower.length) return patch;
  return { ...patch, upstream: { ...upstream, headers: Object.fromEntries(lower) } };
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.fromEntries(Object.entries(value));
}
