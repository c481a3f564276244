import { formatAmount } from '../../protocol/money/money.js';
import type {
  ChargedStatus,
  ProjectExample,
  ProjectLimits,
  ProjectOffer,
  ProjectOpenApi,
  ProjectRecord,
  ProjectShare,
  ProjectUpstream,
} from '../../storage/projects/projects.js';
import type { WrittenSecrets } from '../upstream-secrets/addition-rules.js';
import { writtenOf } from '../upstream-secrets/sealed-additions.js';

/** What an owner asks for: a project before its rules are checked. What is left out takes its default. */
export interface ProjectDraft {
  /** `^[a-z0-9](?:[a-z0-9-]{1,38}[a-z0-9])$`. */
  readonly slug: string;
  readonly name: string;
  readonly description?: string | undefined;
  readonly upstream: {
    readonly url: string;
    /** Default 30,000. */
    readonly timeoutMs?: number | undefined;
    /** 0 to 3. Default 1. */
    readonly retries?: number | undefined;
    /** Header fields that are added to each call: secrets, which stay where they are said to be set. Default: none. */
    readonly headers?: WrittenSecrets | undefined;
    /** The same for parameters of the query. */
    readonly query?: WrittenSecrets | undefined;
    /** Where it is looked at, and how often, in milliseconds. Default: nowhere; every 30,000. */
    readonly health?: { readonly path: string; readonly intervalMs?: number | undefined } | undefined;
  };
  readonly pricing: {
    /** What one call costs, in whole tokens, never rounded. Default: single calls are not sold, only `offers`. */
    readonly amount?: string | number | undefined;
    /** Symbol or mint; given with the amount. */
    readonly token?: string | undefined;
    /** Default, and the only one there is: that of the facilitator. */
    readonly network?: string | undefined;
    /** Statuses beside 2xx and 3xx that are charged. Default: none. */
    readonly chargeOn?: readonly ChargedStatus[] | undefined;
    /** What may be paid for more than one call, in this order. Default: nothing. */
    readonly offers?: readonly DraftOffer[] | undefined;
  };
  /** Default: all to the owner. */
  readonly split?: readonly DraftShare[] | undefined;
  readonly limits?: Loose<ProjectLimits> | undefined;
  /** Default `unlisted`. */
  readonly visibility?: ProjectRecord['visibility'] | undefined;
  /** Wallets and ids of service keys that may call it while it is private. Default: none. */
  readonly allowed?: readonly string[] | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly example?: ProjectExample | undefined;
  readonly openapi?: ProjectOpenApi;
}

/** A price, and what a payment of it buys. */
export interface DraftOffer {
  /** In whole tokens, never rounded. */
  readonly amount: string | number;
  /** Symbol or mint. */
  readonly token: string;
  /** As option `pass` of `requirePayment`. */
  readonly pass: {
    readonly uses?: number | undefined;
    readonly for?: string | undefined;
    readonly credit?: boolean | undefined;
    /** Of credit: what a call takes, in whole tokens, never rounded. */
    readonly cost?: string | number | undefined;
    readonly group?: string | undefined;
  };
}

type Loose<T> = { readonly [K in keyof T]?: T[K] | undefined };
type DraftShare = Omit<ProjectShare, 'label'> & { readonly label?: string | undefined };

/** A project as its owner could have asked for it. */
export function draftOf(project: ProjectRecord, openapi: ProjectOpenApi): ProjectDraft {
  const { slug, name, description, upstream, price, split, limits, visibility, tags, metadata, example } = project;
  const { allowed } = project;
  const { network, chargeOn, pass, offers = [] } = price;
  const first = { amount: formatAmount(price.amount, price.token.decimals), token: price.token.mint };
  const others = offers.map(draftOfOffer);
  const prices =
    pass === undefined ? { ...first, offers: others } : { offers: [draftOfOffer({ ...price, pass }), ...others] };
  const pricing = { ...prices, network, chargeOn, offers: prices.offers.length === 0 ? undefined : prices.offers };
  const rest = { visibility, allowed, tags, metadata, example, openapi };
  return { slug, name, description, upstream: draftOfUpstream(upstream), pricing, split, limits, ...rest };
}

/** Of secrets only that they are set. */
function draftOfUpstream({ headers, query, ...upstream }: ProjectUpstream): ProjectDraft['upstream'] {
  return { ...upstream, headers: writtenOf(headers), query: writtenOf(query) };
}

function draftOfOffer({ amount, token, pass: { cost, ...pass } }: ProjectOffer): DraftOffer {
  const credit = cost === undefined ? {} : { credit: true, cost: formatAmount(cost, token.decimals) };
  return { amount: formatAmount(amount, token.decimals), token: token.mint, pass: { ...pass, ...credit } };
}
