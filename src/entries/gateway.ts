// `tollhouse/gateway`: what sells the APIs of others, and the check of its service keys for routes of your own.
export { createGateway, type GatewayOptions, type GatewaySettings } from '../gateway/create-gateway.js';
export type { Gateway } from '../gateway/gateway.js';
export type { KeyGateway } from '../middleware/service-key/key-gateway.js';
export { type ServiceKeyAuthOptions, serviceKeyAuth } from '../middleware/service-key/service-key-auth.js';
