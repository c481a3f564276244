import { TollhouseError } from '../../errors/errors.js';
import type { ApiCaller } from '../framework/api-caller.js';

/** Tells whose a project is. */
export interface OwnedProject {
  /** Resolves when a wallet owns a project, be it deleted since; rejects with `project_not_found` when it does not. */
  readonly ownedProject: (projectId: string, wallet: string) => Promise<unknown>;
}

/**
 * The project in a path, if it is the caller's and its key may see it.
 * @throws TollhouseError `project_not_found`
 */
export async function ownProject(
  { ownedProject }: OwnedProject,
  { wallet, projectId }: ApiCaller,
  id: string,
): Promise<string> {
  if (projectId !== undefined && projectId !== id) {
    throw new TollhouseError('project_not_found', 'You have no project with this id.');
  }
  await ownedProject(id, wallet);
  return id;
}
