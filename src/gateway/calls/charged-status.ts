import type { ProjectPrice } from '../../storage/projects/projects.js';

/**
 * Whether a call whose upstream answered with a status has its price: 2xx and 3xx (a `Location` may be what was bought), and
 * what else the project names. All others give what was paid back as credit.
 */
export function isCharged({ chargeOn = [] }: Pick<ProjectPrice, 'chargeOn'>, status: number): boolean {
  if (status >= 200 && status < 400) return true;
  return chargeOn.some((it) => it === status || it === `${Math.floor(status / 100)}xx`);
}
