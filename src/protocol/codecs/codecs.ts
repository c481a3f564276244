import type { PaymentCodec } from './codec.js';
import { x402V1 } from './x402-v1.js';
import { x402V2 } from './x402-v2.js';

/** Every way to pay over HTTP, newest first. A request is read by the first codec whose header it carries. */
export const CODECS: readonly PaymentCodec[] = [x402V2, x402V1];
