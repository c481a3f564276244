import { TollhouseError } from '../../errors/errors.js';
import { newId } from '../../lib/ids.js';
import type { Actor } from '../../storage/audit/audit-log.js';
import { endedTooMany, quotaReached } from '../../storage/owners/quotas.js';
import type { ProjectRecord, ProjectStore } from '../../storage/projects/projects.js';
import { newGatewaySecret } from './gateway-secret.js';
import { payeesByDefault, requireSamePayees } from './payees.js';
import { projectEvent } from './project-changes.js';
import type { ProjectDraft } from './project-draft.js';
import { type ProjectRules, settingsOf } from './project-rules.js';
import { type ProjectQuotas, requireSize } from './project-size.js';

/** What {@link createNewProject} works with. */
export interface NewProjectParts extends ProjectRules {
  readonly store: Pick<ProjectStore, 'create' | 'findBySlug'>;
  readonly quotas: (owner: string) => Promise<ProjectQuotas>;
  /** Rejects with `owner_not_allowed` or `owner_suspended` for a wallet that may not have projects here. */
  readonly admit: (owner: string) => Promise<void>;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

/** On whose behalf a project is made or changed. */
export interface ProjectCaller {
  /** Whether it may say who is paid. Default: it may. */
  readonly setsPayees?: boolean | undefined;
  /** For the audit log. Default: the owner. */
  readonly by?: Actor | undefined;
}

/**
 * Makes the project that a wallet has drafted.
 * @throws TollhouseError `owner_not_allowed`, `owner_suspended`, `validation_failed`, `slug_taken`, `quota_reached`, `secrets_key_missing`, or
 * `insufficient_scope` where the caller may not say who is paid
 */
export async function createNewProject(
  { store, quotas, admit, now, ...rules }: NewProjectParts,
  owner: string,
  draft: ProjectDraft,
  { setsPayees = true, by = { wallet: owner } }: ProjectCaller,
): Promise<ProjectRecord> {
  await admit(owner);
  const id = newId('prj');
  const settings = await settingsOf(draft, { id, owner }, rules);
  if (!setsPayees) requireSamePayees(payeesByDefault(owner), settings.split);
  const { projects: most, projectBytes } = await quotas(owner);
  requireSize([settings, draft.openapi], projectBytes);
  const time = now();
  const born = { id, owner, secret: newGatewaySecret(), createdAt: time, updatedAt: time };
  const project: ProjectRecord = { ...settings, ...born, state: 'active', version: 1 };
  const made = await store.create(
    project,
    draft.openapi,
    [projectEvent('project.created', project, time, { by })],
    most,
  );
  if (made.status === 'quota_reached')
    throw made.freeAt ? endedTooMany('projects', most, made.freeAt) : quotaReached('projects', most);
  if (made.status === 'slug_taken') {
    const sold = await store.findBySlug(draft.slug);
    throw slugTaken(draft.slug, sold?.owner === owner ? OWN : whenFree(made.freeAt));
  }
  return project;
}

const OWN = ' by a project of your own; change that one, or choose another slug.';

function whenFree(freeAt: number | undefined): string {
  if (freeAt === undefined) return '; choose another one.';
  return `; choose another one. Its project was deleted: it is free from ${new Date(freeAt).toISOString()} on.`;
}

function slugTaken(slug: string, more: string): TollhouseError {
  return new TollhouseError('slug_taken', `The slug "${slug}" is taken${more}`, { param: 'slug' });
}
