import { VERSION } from '../../lib/version.js';
import type { Answer } from './response.js';
import type { serviceResponse } from './service-responses.js';

/** What the service says of itself at `GET /` and `GET /discovery` (interface-specification.md). */
export const SERVICE: Answer<typeof serviceResponse> = {
  service: 'Tollhouse',
  version: VERSION,
  features: ['multi-token', 'zero-fee', 'token-gated', 'x402', 'solana-pay'],
  endpoints: {
    core: ['/', '/health', '/supported', '/discovery'],
    facilitation: ['/create-payment', '/settle', '/verify', '/wallet-status'],
    token_gateway: [
      '/token-gate/check-access',
      '/token-gate/get-tier',
      '/token-gate/accepted-tokens',
      '/token-gate/tiers',
    ],
  },
};
