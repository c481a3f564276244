import { z } from 'zod';
import { badOption } from '../errors/errors.js';
import type { EmbeddedFacilitator } from '../facilitator/create-facilitator.js';
import { type FacilitatorsOption, hasSeveral, type Networks, networksOf } from '../facilitator/networks/networks.js';
import { checkKeys } from '../identity/service-keys/checked-keys.js';
import { createServiceKeys, type ServiceKeys } from '../identity/service-keys/service-keys.js';
import { defined } from '../lib/defined.js';
import { resolveOptions } from '../lib/options.js';
import { endInTurn, endTogether } from '../lib/work/ends.js';
import { modeOf } from '../protocol/networks/networks.js';
import type { Counters } from '../storage/counters/counters.js';
import type { GatewayStores } from '../storage/gateway-stores.js';
import type { Quotas } from '../storage/owners/quotas.js';
import type { Storage } from '../storage/storage.js';
import type { WebhookAttemptSeen } from '../telemetry/observed.js';
import { createCallLimits } from './calls/call-limits.js';
import { createCalls } from './calls/calls.js';
import { createResponseSecrets, type ResponseSecrets } from './calls/response-secrets.js';
import { createAnalytics } from './figures/analytics.js';
import { createSpending } from './figures/spending.js';
import { createSpendingReports } from './figures/spending-report.js';
import type { Gateway } from './gateway.js';
import { type AddressGuard, createAddressGuard } from './network-guard/address-guard.js';
import type { GatewayOwners } from './owners/admission.js';
import { operatorsOption, ownersOption } from './owners/owners-options.js';
import { quotasOption } from './owners/quotas-option.js';
import { createStrangers, type Strangers, type StrangersParts } from './owners/strangers.js';
import { createNetworkPayouts } from './payouts/network-payouts.js';
import { priceRules } from './prices/price-tokens.js';
import { checkProjects } from './projects/checked-projects.js';
import { createMarketplace } from './projects/marketplace.js';
import { createProjects } from './projects/projects.js';
import { labelOf } from './token-label.js';
import { createSecretBox, type SecretBox } from './upstream-secrets/secret-box.js';
import { createUpstreamSide } from './upstream-side.js';
import { createEventTail } from './webhooks/event-tail.js';
import { createWebhookSender } from './webhooks/webhook-sender.js';
import { createWebhookWorker } from './webhooks/webhook-worker.js';
import { createWebhooks } from './webhooks/webhooks.js';

/**
 * Options of {@link createGateway}. Facilitators are embedded ones, on the ledger of the same storage: a call and its payment are
 * written in one transaction. Of several, a project is on the network that its price names, by default the first.
 */
export type GatewayOptions = GatewaySettings & FacilitatorsOption<EmbeddedFacilitator>;

/** What is said of a gateway beside its facilitators. */
export interface GatewaySettings {
  /** What `openStorage` answered. It is not closed with the gateway. Default: that of the facilitator. */
  readonly storage?: Pick<Storage, 'gateway' | 'counters' | 'dailyCounters'> | undefined;
  /** Networks that upstreams and webhooks may lie in although they are not public, over http too, in CIDR notation. Default: none. */
  readonly allowPrivateNetworks?: readonly string[] | undefined;
  /** Multiplies every limit of keys and projects. Default 1. */
  readonly limitScale?: number | undefined;
  /** What one wallet may own. Default: 20 projects of 65,536 bytes each, 50 service keys, 20 webhooks, 2,000 changes a day, and 10,000 payment requests a day that nobody pays. */
  readonly quotas?: Partial<Quotas> | undefined;
  /** Wallets, base58, that may use `/api/v1/operator`: see what strangers have here, suspend it, set quotas. Default: none. */
  readonly operators?: readonly string[] | undefined;
  /** Who may create projects: `open` for every wallet, or some wallets. Default: the operators on mainnet, `open` elsewhere. */
  readonly owners?: GatewayOwners | undefined;
  /**
   * What the secrets are encrypted with that owners add to the calls of their upstreams, and, with what their callers bring, the
   * responses of calls that are kept for them: at least 32 bytes. Of several the first encrypts, and all decrypt. Default: none; such
   * secrets are refused (`secrets_key_missing`), and responses are encrypted with what their callers bring alone.
   */
  readonly secretsKey?: string | readonly string[] | undefined;
  /** Told of what went wrong in the background; it is tried again. Default: nobody. */
  readonly onFault?: ((error: unknown) => void) | undefined;
  /** Clock, milliseconds since the epoch. Default: the system's. */
  readonly now?: (() => number) | undefined;
}

const WHERE = 'createGateway';
const NO_STORAGE =
  'option "storage" is missing: give createFacilitator the storage that "await openStorage(…)" answers, and the gateway uses it too';
/** Events of the facilitator that are kept. */
const TOLD = [
  ...(['payment.created', 'payment.settled', 'payment.failed', 'payment.expired'] as const),
  ...(['payment.overpaid', 'payment.unmatched', 'payment.refunded'] as const),
  ...(['pass.created', 'pass.used_up', 'pass.expired'] as const),
];

const embedded = z.custom<EmbeddedFacilitator>(
  (it) => typeof Reflect.get(Object(it), 'openProof') === 'function',
  'an embedded facilitator, made by createFacilitator',
);

const options = z.strictObject({
  facilitator: embedded,
  facilitators: z.array(embedded, 'a list of embedded facilitators').optional(),
  storage: z
    .custom<NonNullable<GatewayOptions['storage']>>(
      (it) => typeof Reflect.get(Object(it), 'gateway') === 'object',
      'a storage, opened by openStorage',
    )
    .optional(),
  allowPrivateNetworks: z.array(z.string(), 'a list of networks in CIDR notation').default([]),
  limitScale: z.number('a number above 0').positive('a number above 0').default(1),
  quotas: quotasOption,
  secretsKey: z.union([z.string(), z.array(z.string()).readonly()], 'a secret, or a list of secrets').default([]),
  operators: operatorsOption.default([]),
  owners: ownersOption.optional(),
  onFault: z.custom<(error: unknown) => void>((it) => typeof it === 'function', 'a function').default(() => () => {}),
  now: z.custom<() => number>((it) => typeof it === 'function', 'a function').default(() => Date.now),
});

const optionsOfSeveral = options.partial({ facilitator: true });

/**
 * Makes a gateway: it sells upstream APIs by the call. Give it to `createRouter`, which mounts
 * `/v1/<slug>` and `/api/v1`, and to `serviceKeyAuth`. Nothing is connected, and nothing is done in the background, before
 * `start`. Close it before its facilitator and its storage.
 * @throws TollhouseError `bad_option` when an option is wrong, with what was probably meant
 */
export function createGateway(given: GatewayOptions): Gateway {
  const setup = resolveOptions(WHERE, hasSeveral(given) ? optionsOfSeveral : options, given);
  const networks = networksOf(WHERE, setup);
  const { storage = networks.first.storage, allowPrivateNetworks, limitScale: scale, onFault, now } = setup;
  if (storage === undefined) throw badOption(WHERE, NO_STORAGE, 'storage');
  const { gateway: stores, counters, dailyCounters } = storage;
  const { book, credit, receipts } = stores;
  const parts: Parts = {
    networks,
    stores,
    guard: createAddressGuard({ allow: allowPrivateNetworks }),
    strangers: strangersOf(setup, networks, { stores, counters, dailyCounters }),
    secretBox: createSecretBox(WHERE, [setup.secretsKey].flat()),
    onFault,
    now,
  };
  const { forget, ...selling } = sellingSide(parts, counters, scale);
  const { describeToken } = selling;
  const { observed } = networks.first;
  const { worker, ...telling } = tellingSide(parts);
  const payouts = payoutsOf(parts);
  /** An event was written here: webhooks and streams look within a tenth of a second. */
  const wake = () => {
    worker.nudge();
    telling.tail.wake();
  };
  const calling = createUpstreamSide(parts, (slug) => {
    forget(slug);
    wake();
  });
  const responseSecrets = responseSecretsOf([setup.secretsKey].flat(), parts);
  const stopListening = TOLD.map((type) => networks.joined.on(type, wake));
  return Object.freeze({
    ...selling,
    ...calling.shown,
    ...telling,
    ...payouts,
    calls: createCalls({
      ...{ book, credit, describeToken, wake, onFault, now },
      spending: createSpending({ book, describeToken }),
      limits: createCallLimits({ counters, scale, now }),
    }),
    ...{ responseSecrets, receipts, now },
    ...defined({ observed }),
    start() {
      worker.start();
      calling.start();
      responseSecrets.begin();
      payouts.payouts?.start();
    },
    async close() {
      for (const stop of stopListening) stop();
      await endInTurn(
        () => telling.tail.close(),
        () => endTogether(calling.close(), worker.stop(), payouts.payouts?.close(), responseSecrets.ended()),
        () => book.close(),
      );
    },
  });
}

interface Parts {
  readonly networks: Networks<EmbeddedFacilitator>;
  readonly stores: GatewayStores;
  readonly guard: AddressGuard;
  readonly strangers: Strangers;
  readonly secretBox: SecretBox;
  readonly onFault: (error: unknown) => void;
  readonly now: () => number;
}

function responseSecretsOf(
  secretsKeys: readonly string[],
  { secretBox, stores, onFault, now }: Parts,
): ResponseSecrets {
  return createResponseSecrets({ secretsKeys, box: secretBox, store: stores.responseKeys, onFault, now });
}

function strangersOf(
  setup: Readonly<z.output<typeof optionsOfSeveral>>,
  { mode }: Networks,
  books: Pick<StrangersParts, 'stores' | 'counters' | 'dailyCounters'>,
): Strangers {
  const { quotas, operators, owners, now } = setup;
  const byDefault = mode === 'live' ? operators : 'open';
  return createStrangers({ ...books, quotas, operators, owners: owners ?? byDefault, now });
}

/** Projects, who calls them, and what came of it. */
function sellingSide(parts: Parts, counters: Counters, scale: number) {
  const { networks, stores, guard, strangers, secretBox, now } = parts;
  const { tokens } = networks.joined;
  const { isWallet } = networks.first;
  const { quotas, admit, suspensions, operator, changes, requests } = strangers;
  const { book, credit, passSales, responses } = stores;
  const describeToken = async (mint: string) => {
    const token = tokens.find((it) => it.mint === mint) ?? (await networks.find((it) => it.findToken(mint)));
    return token === undefined ? { symbol: mint, decimals: 0 } : labelOf(token, tokens);
  };
  const projectRules = { ...priceRules(networks), addressGuard: guard, isWallet, secretBox, quotas, admit, now };
  const { forget, ...projects } = createProjects({
    ...projectRules,
    store: stores.projects,
    feePayers: async () => (await networks.joined.supported()).signers,
  });
  const keys = keysOf(parts, counters, scale);
  const analytics = createAnalytics({ book, credit, passSales, responses, describeToken, now });
  return {
    operator,
    quotas,
    changes,
    requests,
    suspensions,
    projects: checkProjects(projects),
    forget,
    async findProject(slugOrId: string) {
      if (!slugOrId.startsWith('prj_')) return projects.bySlug(slugOrId);
      const project = await stores.projects.find(slugOrId);
      return project?.state === 'deleted' ? undefined : project;
    },
    keys,
    analytics,
    marketplace: createMarketplace({
      store: stores.projects,
      projects,
      suspended: suspensions.ofProject,
      figures: analytics.recent,
      mode: networks.mode,
      now,
    }),
    spendingReports: createSpendingReports({ book, credit, passSales, responses, keys, describeToken, now }),
    describeToken,
  };
}

/** Service keys: live ones by default where there is mainnet, and no others where there is nothing else. */
function keysOf({ networks, stores, strangers, now }: Parts, counters: Counters, scale: number): ServiceKeys {
  const { quotas, suspensions } = strangers;
  const modes = new Set(networks.all.map((it) => modeOf(it.network)));
  const kinds = { mode: networks.mode, isLiveOnly: !modes.has('test') };
  const { tokens } = networks.joined;
  const projectOwner = async (id: string) => (await stores.projects.find(id))?.owner;
  const keyQuota = async (owner: string) => (await quotas(owner)).keys;
  const holders = { projectOwner, keyQuota, suspended: suspensions.ofKey };
  return checkKeys(createServiceKeys({ ...holders, store: stores.keys, counters, tokens, ...kinds, scale, now }));
}

/** Webhooks and the event stream. */
function tellingSide({ networks, stores, guard, strangers, onFault, now }: Parts) {
  const { webhooks: store, deliveries, events } = stores;
  const sender = createWebhookSender({ guard });
  const { observed } = networks.first;
  const onAttempt = (seen: WebhookAttemptSeen): void => observed?.tell('webhook.attempt', seen);
  const worker = createWebhookWorker({ deliveries, webhooks: store, sender, onAttempt, now, onError: onFault });
  const ownsProject = async (wallet: string, id: string) => (await stores.projects.find(id))?.owner === wallet;
  const webhookQuota = async (owner: string) => (await strangers.quotas(owner)).webhooks;
  const rules = { addressGuard: guard, ownsProject };
  return {
    worker,
    webhooks: createWebhooks({ ...rules, store, deliveries, webhookQuota, wake: worker.wake, now }),
    events,
    tail: createEventTail(events, onFault),
  };
}

/** Where a facilitator has a split wallet. */
function payoutsOf({
  networks,
  stores,
  onFault,
  now,
}: Parts): Pick<Gateway, 'payouts' | 'splitWallet' | 'splitWalletOn'> {
  const { first } = networks;
  const payouts = createNetworkPayouts(networks.all, { book: stores.payouts, now, onFault });
  return {
    ...defined({ payouts, splitWallet: first.payouts?.wallet }),
    splitWalletOn: (network) => networks.on(network)?.payouts?.wallet,
  };
}
