import { badOption } from '../../errors/errors.js';
import type { SoldPass } from './credit-costs.js';

/** What of a rule says whether uses of its group cover the gate that it is for. */
type KindOfRule = Pick<SoldPass, 'group' | 'uses' | 'byMint'>;

/** What is known of the gates of a group. */
interface GroupKinds {
  sellsUses: boolean;
  /** Whether one of them takes credit, and no uses. */
  metersAlone: boolean;
}

/** By facilitator, with which they go; there by site and group. */
const known = new WeakMap<object, Map<string, GroupKinds>>();

/**
 * Whether a pass of uses covers what a rule of a gate is for. In a group it does not cover a gate that takes credit and sells no uses:
 * another gate has said what a use costs, and this one what a request does. What was sold for a route covers that whatever is sold now.
 * @param rules - all of the gate
 */
export function takesUses(rules: readonly KindOfRule[], { group }: Pick<KindOfRule, 'group'>): boolean {
  const same = rules.filter((it) => it.group === group);
  return group === undefined || same.some(sellsUses) || same.every(({ byMint }) => byMint === undefined);
}

/**
 * Makes sure that a group is told truly of: that its uses cover all of its gates which are known here.
 * @param owner - the facilitator
 * @param site - of the gate
 * @param rules - all of the gate
 * @throws TollhouseError `bad_option` where one gate sells uses of a group, and another one takes credit alone
 */
export function checkGroups(where: string, owner: object, site: string, rules: readonly KindOfRule[]): void {
  const groups = known.get(owner) ?? new Map<string, GroupKinds>();
  known.set(owner, groups);
  for (const group of new Set(rules.map((it) => it.group))) {
    if (group === undefined) continue;
    const key = `${site} ${group}`;
    const before = groups.get(key) ?? { sellsUses: false, metersAlone: false };
    const kinds = {
      sellsUses: before.sellsUses || rules.some((it) => it.group === group && sellsUses(it)),
      metersAlone: before.metersAlone || !takesUses(rules, { group }),
    };
    if (kinds.sellsUses && kinds.metersAlone) throw mixed(where, group);
    groups.set(key, kinds);
  }
}

function sellsUses({ uses, byMint }: KindOfRule): boolean {
  return uses !== undefined && byMint === undefined;
}

function mixed(where: string, group: string): Error {
  const detail = `a gate of the group "${group}" sells uses, and another one takes credit alone, where a request would be a use whatever it costs: give the two different groups, or offer uses at the one that takes credit as well`;
  return badOption(where, detail, 'pass');
}
