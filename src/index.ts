export type { BalanceInput } from './access/balance.js';
export { createHoldings, type Holdings, type HoldingsOptions } from './access/holdings.js';
export type { Tier, TierOptions, TiersOptions } from './access/tiers.js';
export { ERRORS, type ErrorCode, type Problem, TollhouseError } from './errors.js';
export { createFacilitator } from './facilitator/create-facilitator.js';
export type { PaymentEvents } from './facilitator/events.js';
export type { FacilitatorOptions, TokenInput } from './facilitator/facilitator-options.js';
export type { FacilitatorHealth, HealthFault } from './facilitator/health.js';
export type { Holding, HoldingQuery, HoldingsReader, MintFacts } from './facilitator/holdings.js';
export { remoteFacilitator } from './facilitator/remote-facilitator.js';
export type { RemoteFacilitatorOptions } from './facilitator/remote-options.js';
export type { SetupCheck, SetupCode, SetupFinding } from './facilitator/setup-finding.js';
export type { SetupTarget } from './facilitator/setup-target.js';
export type { KnownSetup, SetupWatch } from './facilitator/setup-watch.js';
export type { Claim, Facilitator, OpenedPayment, PaymentUse } from './facilitator/types.js';
export { createGateway, type GatewayOptions } from './gateway/create-gateway.js';
export type { EventMessage } from './gateway/event-message.js';
export type { Gateway } from './gateway/gateway.js';
export {
  type GatewayFault,
  type GatewayRequest,
  type GatewayVerification,
  type VerifiedCall,
  type VerifyGatewayOptions,
  verifyGateway,
} from './gateway/verify-gateway.js';
export {
  type ReceivedWebhook,
  type VerifyWebhookOptions,
  verifyWebhook,
  type WebhookFault,
  type WebhookVerification,
} from './gateway/verify-webhook.js';
export { createIdentity, type WalletIdentity } from './identity/create-identity.js';
export type { IdentityOptions } from './identity/identity-options.js';
export type { Identity, IdentityRequest, Proof, ProvenWallet, SignInChallenge } from './identity/types.js';
export { anyOf } from './middleware/any-of.js';
export type { DiscoveryOptions } from './middleware/discovery-options.js';
export type { Gate } from './middleware/gate.js';
export { type IdempotencyOptions, idempotency } from './middleware/idempotency.js';
export type { FailedPayment, Price, RequirePaymentOptions } from './middleware/payment-options.js';
export { type PaywallRoute, type PaywallRoutes, paywall } from './middleware/paywall.js';
export { createRateLimits, type RateLimitOptions, type RateLimits } from './middleware/rate-limit.js';
export { type ReadTierOptions, readTier } from './middleware/read-tier.js';
export {
  paymentOf,
  type RequestNames,
  type RequestPayment,
  type RequestProperties,
  type RequestServiceKey,
  serviceKeyOf,
  tierOf,
  walletOf,
} from './middleware/request-properties.js';
export { requirePayment } from './middleware/require-payment.js';
export { type RequireTierOptions, requireTier } from './middleware/require-tier.js';
export { type RequireTokenBalanceOptions, requireTokenBalance } from './middleware/require-token-balance.js';
export { type KeyGateway, type ServiceKeyAuthOptions, serviceKeyAuth } from './middleware/service-key-auth.js';
export type { WalletGateOptions } from './middleware/wallet-gate.js';
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
export { type AuthRouterOptions, createAuthRouter } from './routers/auth-router.js';
export { createRouter, type RouterOptions } from './routers/create-router.js';
export type { Metrics } from './routers/metrics.js';
export type { AnswerBounds, AnswerRun, AnswerStore, KnownAnswer } from './storage/answers.js';
export type { Counters, WindowCount } from './storage/counters.js';
export type { Ledger } from './storage/ledger.js';
export { createMemoryAnswers } from './storage/memory-answers.js';
export { createMemoryCounters, type MemoryCountersOptions } from './storage/memory-counters.js';
export { createMemoryLedger, type MemoryLedgerOptions } from './storage/memory-ledger.js';
export { openStorage } from './storage/open-storage.js';
export type { Storage, StorageOptions } from './storage/storage.js';
