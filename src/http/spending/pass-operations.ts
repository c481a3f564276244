import { TollhouseError } from '../../errors/errors.js';
import type { Facilitator } from '../../facilitator/types.js';
import { projectIn } from '../../gateway/prices/project-scope.js';
import { networkOfSite } from '../../protocol/networks/pass-site.js';
import { type ApiCaller, seesMoneyOf } from '../framework/api-caller.js';
import { BY_TOKEN_ALONE, defineOperation } from '../framework/operation.js';
import { PASSES_PATHS, passesResponse } from './pass-schemas.js';
import { passView } from './pass-views.js';

/** What {@link PASSES_OPERATIONS} work with. */
export interface PassesParts extends Pick<Facilitator, 'passes'> {
  /** A project by its id, where it is not deleted. */
  readonly findProject: (id: string) => Promise<{ readonly slug: string } | undefined>;
}

const TAG = 'Passes';
const BY_WALLET = 'A service key withdraws no tokens of passes; sign in with the wallet and send its access token.';
const NOT_FOUND = 'There is no such pass of this wallet.';

const listPasses = defineOperation({
  method: 'get',
  path: PASSES_PATHS.all,
  id: 'listPasses',
  tag: TAG,
  summary: 'The passes that your wallet has bought and what is left of them, the newest 100 first',
  description: 'A service key sees those of them that are of its kind of money, where both are sold.',
  scope: 'spending:read',
  takesTurns: true,
  responses: { 200: { description: 'The passes.', schema: passesResponse } },
  errors: [],
  async handler({ caller }, { passes, findProject }: PassesParts) {
    const found = (await passes.list(caller.wallet)).filter(({ site }) => seesMoneyOf(caller, networkOfSite(site)));
    const ids = [...new Set(found.flatMap(({ scope }) => projectIn(scope) ?? []))];
    const slugs = new Map(await Promise.all(ids.map(async (id) => [id, (await findProject(id))?.slug] as const)));
    return { data: found.map((it) => ({ ...passView(it), project: slugs.get(projectIn(it.scope) ?? '') ?? null })) };
  },
});

const withdrawPassTokens = defineOperation({
  method: 'delete',
  path: PASSES_PATHS.tokens,
  id: 'withdrawPassTokens',
  tag: TAG,
  summary: 'End all tokens of a pass that were given out so far',
  description:
    'For a token that others have seen. The pass stays as it is: whoever signs in with the wallet where it is good (`SIGN-IN-WITH-X`) gets a new one. With an access token only.',
  scope: 'keys:write',
  security: BY_TOKEN_ALONE,
  admit({ keyId }: ApiCaller) {
    if (keyId !== undefined) throw new TollhouseError('insufficient_scope', BY_WALLET);
  },
  responses: { 204: { description: 'They are good for nothing any more.' } },
  errors: ['not_found'],
  async handler({ caller, params }, { passes }: PassesParts) {
    const pass = await passes.find(params.id);
    if (pass?.wallet !== caller.wallet) throw new TollhouseError('not_found', NOT_FOUND);
    await passes.withdrawTokens(pass.id);
  },
});

/** Passes of the caller's wallet: what is left of them, and the end of tokens that got lost. */
export const PASSES_OPERATIONS = [listPasses, withdrawPassTokens];
