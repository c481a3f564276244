import { z } from 'zod';
import type { KeyAuthenticator } from '../../identity/service-keys/service-key-types.js';
import type { Observed } from '../../telemetry/observed.js';

/** What of a gateway checks service keys. */
export interface KeyGateway {
  readonly keys: KeyAuthenticator;
  /** Where its gates are told of to be counted. Default: nowhere. */
  readonly observed?: Observed | undefined;
}

/** Option that is a {@link KeyGateway}. */
export const keyGatewayOption = z.custom<KeyGateway>(
  (it) => typeof Reflect.get(Object(Reflect.get(Object(it), 'keys')), 'authenticate') === 'function',
  'a gateway, with its service keys as "keys"',
);
