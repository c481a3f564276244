import { TollhouseError } from '../../errors/errors.js';
import type { ServiceKey } from './service-key-types.js';

const ONE = 'The service key is for one project alone (its project_id), and this is nothing of that project.';
const SOME =
  'The service key is good for other projects; its owner names them in allowed_projects (PATCH /api/v1/keys/<id>).';

/**
 * Checks that a key is good for what belongs to a project. One that names projects is good for nothing else.
 * @param projectId - undefined for what belongs to no project
 * @throws TollhouseError `key_project_not_allowed`
 */
export function requireKeyProject(
  { projectId: only, allowedProjects = [] }: Pick<ServiceKey, 'projectId' | 'allowedProjects'>,
  projectId: string | undefined,
): void {
  if (only !== undefined && only !== projectId) throw new TollhouseError('key_project_not_allowed', ONE);
  const isAmong = projectId !== undefined && allowedProjects.includes(projectId);
  if (allowedProjects.length > 0 && !isAmong) throw new TollhouseError('key_project_not_allowed', SOME);
}
