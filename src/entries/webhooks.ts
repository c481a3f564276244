// `tollhouse/webhooks`: what a receiver of webhooks and an upstream of a gateway need. No Express, no chain.
export {
  type GatewayFault,
  type GatewayRequest,
  type GatewayVerification,
  type VerifiedCall,
  type VerifyGatewayOptions,
  verifyGateway,
} from '../gateway/proxy/verify-gateway.js';
export type { EventMessage } from '../gateway/webhooks/event-message.js';
export {
  type ReceivedWebhook,
  type VerifyWebhookOptions,
  verifyWebhook,
  type WebhookFault,
  type WebhookVerification,
} from '../gateway/webhooks/verify-webhook.js';
