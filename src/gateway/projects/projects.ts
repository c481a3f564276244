import { TollhouseError } from '../../errors/errors.js';
import type { NetworkId } from '../../protocol/types.js';
import { DEFAULT_QUOTAS } from '../../storage/owners/quotas.js';
import type { ProjectOpenApi, ProjectPlace, ProjectRecord, ProjectStore } from '../../storage/projects/projects.js';
import { createNewProject, type NewProjectParts, type ProjectCaller } from './new-project.js';
import { payeesByDefault, requireSamePayees } from './payees.js';
import { createProjectCache, type ProjectCache } from './project-cache.js';
import { changedSecret, changedSettings, changedState, type ProjectChange, projectEvent } from './project-changes.js';
import { draftOf, type ProjectDraft } from './project-draft.js';
import { type ProjectRules, settingsOf } from './project-rules.js';
import { type ProjectQuotas, requireSize } from './project-size.js';

/** What {@link createProjects} works with. */
export interface ProjectsParts extends ProjectRules {
  readonly store: ProjectStore;
  /** What a wallet may own. Default: 20 projects of 64 KiB. */
  readonly quotas?: ((owner: string) => Promise<ProjectQuotas>) | undefined;
  /** Rejects for a wallet that may not create projects here, see {@link NewProjectParts.admit}. Default: every wallet may. */
  readonly admit?: NewProjectParts['admit'] | undefined;
  /** Clock, milliseconds since the epoch. Default: the system's. */
  readonly now?: () => number;
}

/** Which project is meant: an owner's, and the version if that matters. */
export interface ProjectRef extends ProjectCaller {
  /** Wallet, base58. */
  readonly owner: string;
  readonly id: string;
  /** Whether the change is meant for this version. Default: for any. */
  readonly meantFor?: ((version: number) => boolean) | undefined;
}

/** A project with its OpenAPI document. */
export interface DocumentedProject {
  readonly project: ProjectRecord;
  readonly openapi: ProjectOpenApi;
}

/**
 * Projects and their owners. What is somebody else's is not there: `project_not_found`. A change rejects
 * with `precondition_failed` when it was not meant for the version that it meets.
 */
export interface Projects extends Omit<ProjectCache, 'forget'> {
  /**
   * Rejects with `owner_not_allowed`, `owner_suspended`, `validation_failed`, `slug_taken` or `quota_reached`, or with
   * `insufficient_scope` where the caller may not say who is paid.
   */
  create(owner: string, draft: ProjectDraft, caller?: ProjectCaller): Promise<DocumentedProject>;
  /** Rejects with `project_not_found` unless a wallet owns a project, be it deleted since: its figures and debts outlive it. */
  requireOwner(id: string, wallet: string): Promise<void>;
  /** The network of a project, be it deleted since; undefined where it is not the wallet's. */
  networkOf(id: string, wallet: string): Promise<NetworkId | undefined>;
  /** The newest first. */
  list(owner: string, limit: number, after?: ProjectPlace): Promise<readonly ProjectRecord[]>;
  get(ref: ProjectRef): Promise<DocumentedProject>;
  /**
   * Changes what an owner decides; rejects with `validation_failed` or `quota_reached`, or with `insufficient_scope` where the
   * caller may not say who is paid. What changes nothing writes nothing.
   * @param edit - makes the draft of the next version from that of the present one; it may be called again
   */
  update(ref: ProjectRef, edit: (draft: ProjectDraft) => ProjectDraft): Promise<DocumentedProject>;
  /** Calls are refused from now on. */
  pause(ref: ProjectRef): Promise<DocumentedProject>;
  /** Calls are served again. */
  resume(ref: ProjectRef): Promise<DocumentedProject>;
  /** A new gateway secret; the one before stays good for a day. */
  rotateSecret(ref: ProjectRef, overlapMs?: number): Promise<DocumentedProject>;
  /** Deletes it for ever. Its slug is kept for the owner for 30 days. */
  remove(ref: ProjectRef): Promise<void>;
}

type Plan = (project: ProjectRecord) => Promise<ProjectChange | undefined> | ProjectChange | undefined;

/** How often a change is tried anew when others change the project at the same time. */
const ATTEMPTS = 5;

/** Makes the projects of a gateway. */
export function createProjects(parts: ProjectsParts): Projects & Pick<ProjectCache, 'forget'> {
  const { store, quotas = async () => DEFAULT_QUOTAS, admit = async () => {}, now = Date.now, ...rules } = parts;
  const cache = createProjectCache(store, now);
  const { find, change } = changesIn(store, cache, now);

  async function documented(project: ProjectRecord): Promise<DocumentedProject> {
    return { project, openapi: await store.openApiOf(project.id) };
  }

  return {
    ...cache,
    async create(owner, draft, caller = {}) {
      const project = await createNewProject({ ...rules, store, quotas, admit, now }, owner, draft, caller);
      cache.forget(project.slug);
      return { project, openapi: draft.openapi };
    },
    ...ownershipIn(store),
    list: (owner, limit, after) => store.list(owner, limit, after),
    get: async (ref) => documented(await find(ref)),
    async update(ref, edit) {
      const project = await change(ref, async (before) => {
        const document = await store.openApiOf(before.id);
        const draft = edit(draftOf(before, document));
        const settings = await settingsOf(draft, before, rules, before);
        if (ref.setsPayees === false) requireSamePayees(before.split, settings.split);
        const { projectBytes } = await quotas(before.owner);
        requireSize([settings, draft.openapi], projectBytes, [before, document]);
        return changedSettings(before, settings, { before: document, after: draft.openapi });
      });
      return documented(project);
    },
    pause: async (ref) => documented(await change(ref, (it) => changedState(it, 'paused'))),
    resume: async (ref) => documented(await change(ref, (it) => changedState(it, 'active'))),
    rotateSecret: async (ref, overlapMs) => documented(await change(ref, (it) => changedSecret(it, now(), overlapMs))),
    async remove(ref) {
      await change(ref, (it) => {
        // Made anew under the same slug, it would pay its owner alone.
        if (ref.setsPayees === false) requireSamePayees(it.split, payeesByDefault(it.owner));
        return changedState(it, 'deleted');
      });
    },
  };
}

/** Finds projects for their owners, and changes them. */
function changesIn(store: ProjectStore, cache: Pick<ProjectCache, 'forget'>, now: () => number) {
  async function find({ owner, id }: ProjectRef): Promise<ProjectRecord> {
    const project = await store.find(id);
    if (project?.owner === owner) return project;
    throw notYours();
  }

  /** Plans and makes a change; anew when somebody else was quicker and any version is meant. */
  async function change(ref: ProjectRef, plan: Plan): Promise<ProjectRecord> {
    const { meantFor = () => true, by = { wallet: ref.owner } } = ref;
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const before = await find(ref);
      if (!meantFor(before.version)) break;
      const planned = await plan(before);
      if (planned === undefined) return before;
      const { type, openapi, changed } = planned;
      const time = now();
      const project = { ...planned.project, version: before.version + 1, updatedAt: time };
      const done = await store.replace(project, openapi, [projectEvent(type, project, time, { changed, by, before })]);
      if (!done) continue;
      cache.forget(project.slug);
      return project;
    }
    throw new TollhouseError('precondition_failed', 'The project has changed since you read it; read it again.');
  }

  return { find, change };
}

/** Whose projects are, deleted ones too. */
function ownershipIn(store: ProjectStore): Pick<Projects, 'requireOwner' | 'networkOf'> {
  return {
    async requireOwner(id, wallet) {
      if ((await store.originOf(id))?.owner !== wallet) throw notYours();
    },
    async networkOf(id, wallet) {
      const origin = await store.originOf(id);
      return origin?.owner === wallet ? origin.network : undefined;
    },
  };
}

function notYours(): TollhouseError {
  return new TollhouseError('project_not_found', 'You have no project with this id.');
}
