import { renewedSecret, signingSecrets } from '../../../../src/gateway/projects/gateway-secret.js';
import { newProject } from '../../../contracts/project-samples.js';

const NOW = 1_700_000_000_000;
const DAY_MS = 86_400_000;

test('calls are signed with both secrets for a day after the change, with the newer one first', () => {
  const { previousSecret: _secret, previousSecretUntil: _until, ...project } = newProject();
  expect(signingSecrets(project, NOW)).toEqual([project.secret]);
  const renewed = { ...project, ...renewedSecret(project, NOW) };
  expect(renewed.secret).not.toBe(project.secret);
  expect(signingSecrets(renewed, NOW + DAY_MS - 1)).toEqual([renewed.secret, project.secret]);
  expect(signingSecrets(renewed, NOW + DAY_MS)).toEqual([renewed.secret]);
});
