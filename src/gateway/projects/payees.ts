import { TollhouseError } from '../../errors/errors.js';
import { WHOLE } from '../../protocol/money/split.js';
import type { ProjectShare } from '../../storage/projects/projects.js';

/** Who is paid for the calls of a project unless its owner says something else: the owner alone. */
export function payeesByDefault(owner: string): readonly ProjectShare[] {
  return [{ recipient: owner, bps: WHOLE }];
}

/**
 * Refuses a caller who may change a project, but not who is paid for it. What shares are called, anybody may change.
 * @throws TollhouseError `insufficient_scope` where a recipient, a share or their order would be another
 */
export function requireSamePayees(before: readonly ProjectShare[], after: readonly ProjectShare[]): void {
  const isSame = before.length === after.length && before.every((it, at) => sameShare(it, after[at]));
  if (isSame) return;
  const detail =
    'The service key does not have the scope "payouts:write", without which nobody says who is paid: leave `split` as it is, or sign in with the wallet.';
  throw new TollhouseError('insufficient_scope', detail, { param: 'split' });
}

function sameShare({ recipient, bps }: ProjectShare, other: ProjectShare | undefined): boolean {
  return recipient === other?.recipient && bps === other.bps;
}
