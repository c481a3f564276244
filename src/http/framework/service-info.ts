import { z } from 'zod';
import { VERSION } from '../../lib/version.js';
import type { ResponseBody } from './fields.js';
import type { OperationDescription } from './operation.js';

/** The name of the service. */
export const SERVICE_NAME = 'Tollhouse';

const paths = z.array(z.string());

/** Version of the service. */
export const versionField = z.string().describe('Version of the service (semantic versioning).');

/** Response of `GET /`, and part of that of `GET /discovery`. */
export const serviceResponse = z.object({
  service: z.string(),
  version: versionField,
  features: z.array(z.string()),
  endpoints: z.object({ core: paths, facilitation: paths, token_gateway: paths }),
});

/** What the service says of itself, with those of its operations that are to be listed. */
export type ServiceInfo = ResponseBody<typeof serviceResponse>;

/** Makes what the service says of itself. */
export function serviceInfo(operations: readonly OperationDescription[]): ServiceInfo {
  const listed = operations.flatMap(({ path, listed: at }) => (at === undefined ? [] : { path, ...at }));
  const pathsUnder = (head: keyof ServiceInfo['endpoints']) =>
    listed
      .filter(({ under }) => under === head)
      .sort((a, b) => a.place - b.place)
      .map(({ path }) => path);
  return {
    service: SERVICE_NAME,
    version: VERSION,
    features: ['multi-token', 'zero-fee', 'token-gated', 'x402', 'solana-pay'],
    endpoints: {
      core: pathsUnder('core'),
      facilitation: pathsUnder('facilitation'),
      token_gateway: pathsUnder('token_gateway'),
    },
  };
}
