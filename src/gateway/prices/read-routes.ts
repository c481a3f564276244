import type { FieldFault } from '../../errors/errors.js';
import { defined } from '../../lib/defined.js';
import { type FreeCallRule, MAX_ROUTES, type ProjectRoute, routeName } from '../../storage/projects/project-routes.js';
import type { ProjectRecord } from '../../storage/projects/projects.js';
import { fieldFault } from './field-fault.js';
import type { DraftFreeCalls, DraftPrice, DraftPricing, DraftRoute } from './pricing-draft.js';
import { type PriceRules, type Read, readCallPrice } from './read-pricing.js';
import { methodFault, pathFault } from './route-pattern.js';

/** Most free calls of a key in a window. */
const MAX_FREE_CALLS = 1_000_000;

/**
 * Reads the routes of a draft.
 * @param pricing - of the same draft: its token is that of routes which name none
 * @param before - the routes that are changed. Undefined for new ones
 */
export async function readRoutes(
  routes: readonly DraftRoute[],
  pricing: DraftPricing,
  rules: PriceRules,
  before: Pick<ProjectRecord, 'price' | 'routes'> | undefined,
): Promise<Read<readonly ProjectRoute[] | undefined>> {
  if (routes.length === 0) return { ok: true, value: undefined };
  if (routes.length > MAX_ROUTES) return faulty([fieldFault('/routes', `must have at most ${MAX_ROUTES} entries`)]);
  const own = pricing.token ?? pricing.offers?.[0]?.token;
  const names = routes.map((it) => routeName(it));
  const read = await Promise.all(
    routes.map(async (route, at) => {
      const pointer = `/routes/${at}`;
      if (names.indexOf(names[at] ?? '') < at) {
        return faulty([fieldFault(pointer, 'must not have the method and the path of one before it, which decides')]);
      }
      const earlier = before?.routes?.find((it) => routeName(it) === names[at])?.price;
      return readRoute(route, pointer, own, rules, earlier ?? before?.price);
    }),
  );
  const faults = read.flatMap((it) => (it.ok ? [] : it.faults));
  return faults.length > 0 ? faulty(faults) : { ok: true, value: read.flatMap((it) => (it.ok ? [it.value] : [])) };
}

async function readRoute(
  { method, path, price, free, deny }: DraftRoute,
  pointer: string,
  token: string | undefined,
  rules: PriceRules,
  before: ProjectRoute['price'],
): Promise<Read<ProjectRoute>> {
  const wrong = [
    [`${pointer}/method`, methodFault(method)],
    [`${pointer}/path`, pathFault(path)],
    [pointer, saysOne({ price, free, deny }) ? undefined : 'must have one of price, free and deny'],
  ] as const;
  const faults = wrong.flatMap(([at, fault]) => (fault === undefined ? [] : [fieldFault(at, fault)]));
  const priced = price && (await readCallPrice(withToken(price, token), `${pointer}/price`, rules, before));
  if (priced?.ok === false) return faulty([...faults, ...priced.faults]);
  if (faults.length > 0) return faulty(faults);
  const denied = deny === true ? 404 : deny;
  return { ok: true, value: { path, ...defined({ method, free, deny: denied, price: priced?.value }) } };
}

function saysOne(said: Pick<DraftRoute, 'price' | 'free' | 'deny'>): boolean {
  return Object.values(said).filter((it) => it !== undefined).length === 1;
}

function withToken(price: DraftPrice, token: string | undefined): DraftPrice {
  return price.amount === undefined || price.token !== undefined ? price : { ...price, token };
}

/** Reads the free calls of a draft. */
export function readFreeCalls(draft: DraftFreeCalls | undefined): Read<FreeCallRule | undefined> {
  if (draft === undefined) return { ok: true, value: undefined };
  const { count, window } = draft;
  if (!Number.isInteger(count) || count < 1 || count > MAX_FREE_CALLS) {
    return faulty([fieldFault('/free_calls/count', 'must be a whole number of calls, 1 to 1,000,000')]);
  }
  return { ok: true, value: { count, window: window === '24h' ? 'day' : window } };
}

function faulty(faults: readonly FieldFault[]): { readonly ok: false; readonly faults: readonly FieldFault[] } {
  return { ok: false, faults };
}
