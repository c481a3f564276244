import { defined } from '../../lib/defined.js';
import type { ProjectSecretsStore } from '../../storage/projects/project-secrets.js';
import type { ProjectRecord, SealedTexts } from '../../storage/projects/projects.js';
import { keyIdOf, type SecretBox } from './secret-box.js';

/** A project with secrets that no key opens any more: its owner gives them anew. */
export interface LostSecrets {
  readonly project: ProjectRecord;
  /** Names of header fields and of parameters of the query. */
  readonly headers: readonly string[];
  readonly query: readonly string[];
}

const MOST = 100_000;

/** Finds the projects whose secrets none of the keys opens. Rejects with `store_unavailable`. */
export async function findLostSecrets(store: ProjectSecretsStore, box: SecretBox): Promise<readonly LostSecrets[]> {
  const sealed = await store.sealedOtherwise('', MOST);
  const lost = (texts: SealedTexts = {}) =>
    Object.entries(texts).flatMap(([name, text]) => (box.has(keyIdOf(text) ?? '') ? [] : [name]));
  return sealed
    .map((project) => ({ project, headers: lost(project.upstream.headers), query: lost(project.upstream.query) }))
    .filter(({ headers, query }) => headers.length + query.length > 0);
}

/**
 * Takes such secrets away from their project; false, and nothing is changed, where its owner has changed it meanwhile. Rejects with
 * `store_unavailable`.
 */
export function forgetLostSecrets(store: ProjectSecretsStore, { project, ...lost }: LostSecrets): Promise<boolean> {
  const { headers, query, ...upstream } = project.upstream;
  const left = { headers: without(headers, lost.headers), query: without(query, lost.query) };
  return store.reseal({ ...project, upstream: { ...upstream, ...defined(left) } });
}

function without(texts: SealedTexts = {}, names: readonly string[]): SealedTexts | undefined {
  const left = Object.entries(texts).filter(([name]) => !names.includes(name));
  return left.length === 0 ? undefined : Object.fromEntries(left);
}
