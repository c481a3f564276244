export type { BalanceInput } from './access/balance.js';
export {
  createHoldingTimes,
  type HeldRule,
  type HoldingTimes,
  type HoldingTimesOptions,
} from './access/holding-times.js';
export { createHoldings, type Holdings, type HoldingsOptions } from './access/holdings.js';
export type { Tier, TierOptions, TiersOptions } from './access/tiers.js';
export { ERRORS, type ErrorCode, type Problem, TollhouseError } from './errors/errors.js';
export { createFacilitator, type EmbeddedFacilitator } from './facilitator/create-facilitator.js';
export type { PaymentEvents } from './facilitator/events/events.js';
export type { FacilitatorOptions, TokenInput } from './facilitator/facilitator-options.js';
export type {
  Collection,
  CollectionQuery,
  Holding,
  HoldingQuery,
  HoldingsReader,
  MintFacts,
} from './facilitator/holdings/holding.js';
export type { RefundOptions } from './facilitator/refunds/refund-options.js';
export { remoteFacilitator } from './facilitator/remote/remote-facilitator.js';
export type { RemoteFacilitatorOptions } from './facilitator/remote/remote-options.js';
export type { FacilitatorHealth, HealthFault } from './facilitator/setup/health.js';
export type { SetupCheck, SetupCode, SetupFinding } from './facilitator/setup/setup-finding.js';
export type { SetupTarget } from './facilitator/setup/setup-target.js';
export type { KnownSetup, SetupWatch } from './facilitator/setup/setup-watch.js';
export type { Claim, Facilitator, OpenedPayment, PaymentUse, Refund } from './facilitator/types.js';
export { createGateway, type GatewayOptions, type GatewaySettings } from './gateway/create-gateway.js';
export type { Gateway } from './gateway/gateway.js';
export {
  type GatewayFault,
  type GatewayRequest,
  type GatewayVerification,
  type VerifiedCall,
  type VerifyGatewayOptions,
  verifyGateway,
} from './gateway/proxy/verify-gateway.js';
export type { EventMessage } from './gateway/webhooks/event-message.js';
export {
  type ReceivedWebhook,
  type VerifyWebhookOptions,
  verifyWebhook,
  type WebhookFault,
  type WebhookVerification,
} from './gateway/webhooks/verify-webhook.js';
export { type AuthRouterOptions, createAuthRouter } from './http/auth/auth-router.js';
export { createRouter, type RouterOptions, type RouterSettings } from './http/create-router.js';
export type { Metrics } from './http/service/metrics.js';
export { createIdentity, type WalletIdentity } from './identity/create-identity.js';
export {
  createDelegations,
  type Delegations,
  type DelegationsOptions,
  type SignedDelegation,
} from './identity/delegations.js';
export type { IdentityOptions } from './identity/identity-options.js';
export type {
  Identity,
  IdentityRequest,
  InspectedProof,
  PassClaims,
  PassReading,
  PassTokens,
  Proof,
  ProofScope,
  ProvenWallet,
  SignInChallenge,
  SignInSessions,
  SignInUse,
} from './identity/types.js';
export { paywallScript } from './middleware/browser/paywall-script.js';
export { anyOf } from './middleware/gate/any-of.js';
export { type CrossOriginOptions, crossOrigin } from './middleware/gate/cross-origin.js';
export type { Gate, Middleware } from './middleware/gate/gate.js';
export {
  type ChargeCredit,
  chargeCredit,
  passOf,
  paymentOf,
  type RequestNames,
  type RequestPass,
  type RequestPayment,
  type RequestProperties,
  type RequestServiceKey,
  serviceKeyOf,
  tierOf,
  walletOf,
} from './middleware/gate/request-properties.js';
export { type IdempotencyOptions, idempotency } from './middleware/idempotency/idempotency.js';
export { requirePayment } from './middleware/payment/require-payment.js';
export { type PaywallRoute, type PaywallRoutes, paywall } from './middleware/paywall/paywall.js';
export { createRateLimits, type RateLimitOptions, type RateLimits } from './middleware/rate-limit/rate-limit.js';
export type { KeyGateway } from './middleware/service-key/key-gateway.js';
export { type ServiceKeyAuthOptions, serviceKeyAuth } from './middleware/service-key/service-key-auth.js';
export type { DiscoveryOptions } from './middleware/terms/discovery-options.js';
export type { AllowanceOption, HolderOffer } from './middleware/terms/holder-offers.js';
export type { Offer, PassOption } from './middleware/terms/pass-option.js';
export type {
  FailedPayment,
  PerNetwork,
  Price,
  RequirePaymentOptions,
  RoutePayTo,
  RoutePrice,
} from './middleware/terms/payment-options.js';
export type { AdmissionOptions } from './middleware/wallet/admission.js';
export { type ReadTierOptions, readTier } from './middleware/wallet/read-tier.js';
export { type RequireTierOptions, requireTier } from './middleware/wallet/require-tier.js';
export { type RequireTokenBalanceOptions, requireTokenBalance } from './middleware/wallet/require-token-balance.js';
export type { WalletGateOptions } from './middleware/wallet/wallet-gate.js';
export type { OwnPage, PaywallOffer, PaywallTerms, RenderPaywall } from './pages/layout/own-page.js';
export type { PageColours } from './pages/layout/page-colours.js';
export type { OwnTexts, PageOptions } from './pages/layout/page-options.js';
export type { PageTexts, PaywallStateTexts } from './pages/texts/page-texts.js';
export type { AddressInput } from './protocol/address-input.js';
export { REASONS, type Reason } from './protocol/reasons.js';
export type { Supported } from './protocol/supported.js';
export type {
  Commitment,
  NetworkId,
  Payment,
  Receipt,
  Refusal,
  Settlement,
  Terms,
  Token,
  Verification,
} from './protocol/types.js';
export type { Counters, WindowCount } from './storage/counters/counters.js';
export { createMemoryCounters, type MemoryCountersOptions } from './storage/counters/memory-counters.js';
export type { HeldTimes, Sighting } from './storage/held/held-times.js';
export type {
  BegunRun,
  EndedRun,
  IdempotencyBounds,
  IdempotencyStore,
  IdempotentRun,
  KnownResponse,
} from './storage/idempotency/idempotency-store.js';
export { createMemoryIdempotencyStore } from './storage/idempotency/memory-idempotency-store.js';
export type { Ledger } from './storage/ledger/ledger.js';
export { createMemoryLedger, type MemoryLedgerOptions } from './storage/ledger/memory-ledger.js';
export { openStorage } from './storage/open-storage.js';
export type {
  Adjustment,
  AdjustResult,
  Debit,
  DebitResult,
  NewPass,
  Pass,
  PassFault,
  PassKind,
  PassQuery,
  PassStore,
} from './storage/passes/pass-store.js';
export type { Storage, StorageOptions } from './storage/storage.js';
