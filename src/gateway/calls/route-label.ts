import type { Call } from './call.js';

/** What names a thing in every call: a word, or a version. All else may be another in each. */
const STAYS = /^(?:[a-z][a-z_.~-]{0,31}|v\d{1,3})$/i;
const MOST_SEGMENTS = 8;

/**
 * What of a project a call is for, without what differs in each: its method and its path, `*` for ids, numbers and long texts in it.
 * Of a call that a route of the project matched that is the route's name. Never a query, and bounded however long the path is.
 */
export function routeLabel({ method, rest, rule }: Pick<Call, 'method' | 'rest' | 'rule'>): string {
  if (rule !== undefined) return rule;
  const [path = ''] = rest.split(/[?#]/, 1);
  const segments = path.split('/').filter((it) => it !== '');
  const shown = segments.slice(0, MOST_SEGMENTS).map((it) => (STAYS.test(it) ? it : '*'));
  const more = segments.length > MOST_SEGMENTS ? ['**'] : [];
  return `${method} /${[...shown, ...more].join('/')}`;
}
