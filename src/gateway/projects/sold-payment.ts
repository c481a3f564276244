import { TollhouseError } from '../../errors/errors.js';
import type { AskSeller, NewPaymentRequest } from '../../facilitator/requests/payment-request-types.js';
import { requireKeyProject } from '../../identity/service-keys/key-project.js';
import type { ServiceKey } from '../../identity/service-keys/service-key-types.js';
import type { ServiceKeys } from '../../identity/service-keys/service-keys.js';
import { defined } from '../../lib/defined.js';
import { formatAmount, parseDecimal } from '../../protocol/money/money.js';
import { moneyOf, SOL_MINT } from '../../protocol/networks/tokens.js';
import type { NetworkId } from '../../protocol/types.js';
import type { Suspensions } from '../../storage/owners/suspensions.js';
import type { ProjectMoney } from '../../storage/projects/call-price.js';
import type { ProjectRecord } from '../../storage/projects/projects.js';
import { callRoute } from '../prices/call-route.js';
import { singlePrices } from '../prices/project-offers.js';
import { isVisibleTo, type KeyHand } from './visibility.js';

/** What of a body asks for a payment to a project. What is left out is the project's. */
export interface SoldPayment {
  readonly project: string;
  /** The call that it shall pay for: below `/v1/<slug>`, a query may follow. Default: one at the project's own price. */
  readonly path?: string | undefined;
  /** Default `GET`. */
  readonly method?: string | undefined;
  readonly amount?: string | number | undefined;
  readonly token?: string | undefined;
  readonly recipient?: string | undefined;
  readonly split?: NewPaymentRequest['split'] | undefined;
}

/** What a project says of a payment for one of its calls. */
export type SellerParts = Pick<NewPaymentRequest, 'amount' | 'token' | 'recipient' | 'split'> &
  Required<Pick<NewPaymentRequest, 'seller'>> & {
    /** On which it is paid. */
    readonly network: NetworkId;
  };

/** A project by slug or id that is not deleted. */
export type FindProject = (slugOrId: string) => Promise<ProjectRecord | undefined>;

/** Whom {@link sellerParts} asks. */
export interface SoldBy {
  readonly findProject: FindProject;
  readonly suspensions: Pick<Suspensions, 'refuseProject'>;
}

/** Whom {@link createAskSeller} asks. */
export interface AskSellerParts {
  readonly findProject: FindProject;
  readonly keys: Pick<ServiceKeys, 'ownerOf'>;
  readonly suspensions: Pick<Suspensions, 'refuseProject' | 'refuseKey'>;
}

const PAUSED_RETRY_SECONDS = 60;
const DEFAULT_LOOK_MS = 30_000;
const FREE = 'This method and path of the project cost nothing: call it with your service key, without a payment.';
const NO_SINGLE_CALLS =
  'The project sells no single calls: pay one of its offers through x402, which a call without a payment is told.';

/**
 * What a call of a project costs, and who is paid: its price and its split. What was asked for beside that must be the same.
 * @param key - the service key that was shown, if one was
 * @throws TollhouseError `project_not_found`, `key_project_not_allowed`, `project_suspended`, `project_paused`,
 * `project_upstream_down`, `invalid_recipient`, `invalid_token`,
 * `invalid_amount` or `invalid_split`
 */
export async function sellerParts(
  { findProject, suspensions }: SoldBy,
  asked: SoldPayment,
  key: (KeyHand & Pick<ServiceKey, 'projectId' | 'allowedProjects'>) | undefined,
): Promise<SellerParts> {
  const project = await findProject(asked.project);
  if (project === undefined || !isVisibleTo(project, key)) {
    throw new TollhouseError('project_not_found', 'project must be the slug or the id of a project.', {
      param: 'project',
    });
  }
  if (key !== undefined) requireKeyProject(key, project.id);
  await suspensions.refuseProject(project);
  if (project.state !== 'active') {
    throw new TollhouseError('project_paused', 'Its owner has paused this project.', { param: 'project' });
  }
  if (project.upstreamDownSince !== undefined) {
    const detail = 'The upstream of this project does not answer, and so nothing is sold at the moment.';
    throw new TollhouseError('project_upstream_down', detail, {
      param: 'project',
      retryAfterSeconds: downRetrySeconds(project),
    });
  }
  const { id: projectId, owner, split } = project;
  const { route, price: prices } = priceAsked(project, asked);
  const [first] = singlePrices(prices);
  if (first === undefined) throw new TollhouseError('invalid_amount', NO_SINGLE_CALLS, { param: 'project' });
  const price = singlePrices(prices).find(({ token }) => isToken(asked.token, token)) ?? first;
  const { mint, symbol, decimals } = price.token;
  const parts = {
    amount: asked.amount ?? formatAmount(price.amount, decimals),
    // Wrapped SOL in a price: it is paid in SOL, unless somebody asks for the other.
    token: asked.token ?? (mint === SOL_MINT ? symbol : mint),
    recipient: asked.recipient ?? split[0]?.recipient ?? owner,
  };
  checkAsked({ ...parts, split: asked.split }, { price, split });
  return { ...parts, split, seller: { projectId, owner, ...defined({ route }) }, network: project.price.network };
}

/**
 * What the call costs that is to be paid.
 * @throws TollhouseError `ambiguous_path`, `route_not_found`, `route_denied`, or `invalid_amount` where it costs nothing
 */
function priceAsked(project: ProjectRecord, { method = 'GET', path }: SoldPayment) {
  if (path === undefined) return { route: undefined, price: project.price };
  const { route, isFree, project: at } = callRoute(project, { method, rest: path });
  if (isFree) throw new TollhouseError('invalid_amount', FREE, { param: 'path' });
  return { route, price: at.price };
}

function isToken(asked: string | undefined, { mint, symbol }: ProjectMoney['token']): boolean {
  return asked !== undefined && (moneyOf(asked) === moneyOf(mint) || asked.toUpperCase() === symbol.toUpperCase());
}

/**
 * Asks before money is taken for a request of a project: nothing can be called once it is paused, deleted, or private and not for
 * the key that asked, nor with a key that is suspended. It rejects with `project_paused`, `project_upstream_down`, `project_suspended`,
 * `project_not_found`, `service_key_suspended` or `wallet_suspended` then.
 */
export function createAskSeller({ findProject, keys, suspensions }: AskSellerParts): AskSeller {
  async function handOf(keyId: string | undefined): Promise<KeyHand | undefined> {
    const owner = keyId === undefined ? undefined : await keys.ownerOf(keyId);
    return keyId === undefined || owner === undefined ? undefined : { id: keyId, owner };
  }

  return async ({ projectId, keyId }) => {
    const key = await handOf(keyId);
    if (key !== undefined) await suspensions.refuseKey(key);
    if (projectId === undefined) return;
    const project = await findProject(projectId);
    if (project === undefined || !isVisibleTo(project, key)) {
      const detail =
        'The project that this payment is for has been deleted, or is there for its caller no more. No transaction was sent; nothing was charged.';
      throw new TollhouseError('project_not_found', detail);
    }
    await suspensions.refuseProject(project);
    if (project.state !== 'active') {
      const detail =
        'Its owner has paused the project that this payment is for. No transaction was sent; nothing was charged.';
      throw new TollhouseError('project_paused', detail, { retryAfterSeconds: PAUSED_RETRY_SECONDS });
    }
    if (project.upstreamDownSince !== undefined) {
      const detail =
        'The upstream of the project that this payment is for does not answer. No transaction was sent; nothing was charged.';
      throw new TollhouseError('project_upstream_down', detail, { retryAfterSeconds: downRetrySeconds(project) });
    }
  };
}

/** After how many seconds a project whose upstream is down may be sold again. */
export function downRetrySeconds({ upstream }: Pick<ProjectRecord, 'upstream'>): number {
  return Math.ceil((upstream.health?.intervalMs ?? DEFAULT_LOOK_MS) / 1000);
}

function checkAsked(
  {
    amount,
    token,
    recipient,
    split,
  }: Pick<NewPaymentRequest, 'amount' | 'token' | 'recipient'> & Pick<SoldPayment, 'split'>,
  { price, split: own }: Pick<ProjectRecord, 'split'> & { readonly price: ProjectMoney },
): void {
  const { symbol, decimals } = price.token;
  if (split !== undefined) {
    throw new TollhouseError('invalid_split', "split must be left out: the project's applies", { param: 'split' });
  }
  if (!own.some((share) => share.recipient === recipient)) {
    const detail = `recipient must be one of the project's: ${own.map((share) => share.recipient).join(', ')}`;
    throw new TollhouseError('invalid_recipient', detail, { param: 'recipient' });
  }
  if (!isToken(token, price.token)) {
    throw new TollhouseError('invalid_token', `token must be that of the project's price: ${symbol}`, {
      param: 'token',
    });
  }
  const read = parseDecimal(amount, decimals);
  if (!read.ok || read.value !== price.amount) {
    const detail = `amount must be the price of a call: ${formatAmount(price.amount, decimals)}`;
    throw new TollhouseError('invalid_amount', detail, { param: 'amount' });
  }
}
