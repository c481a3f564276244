import type { z } from 'zod';
import {
  encodeSettlement,
  encodeSupported,
  encodeVerification,
} from '../../../../src/protocol/codecs/facilitator-codec.js';
import type { CataloguedResource } from '../../../../src/protocol/wire/discovery.js';
import { encodeDiscovery, encodeDiscoverySearch, encodeWellKnown } from '../../../../src/protocol/wire/discovery.js';
import {
  discoveryResponse,
  facilitatorBody,
  searchResponse,
  settleResponse,
  supportedResponse,
  verifyResponse,
  wellKnownResponse,
} from '../../../../src/protocol/wire/schemas.js';
import { FEE_PAYER, PAYER, PAYLOAD_V1, PAYLOAD_V2, SETTLEMENTS, TERMS, WIRE_TERMS } from '../samples.js';

const { amount, ...others } = WIRE_TERMS;
const REQUIREMENTS_V1 = { ...others, network: 'solana-devnet', maxAmountRequired: amount };
const BODY_V2 = { paymentPayload: PAYLOAD_V2, paymentRequirements: WIRE_TERMS };
const BODY_V1 = { paymentPayload: PAYLOAD_V1, paymentRequirements: REQUIREMENTS_V1 };
const HINT = { blockhash: FEE_PAYER, lastValidBlockHeight: 9 };

const RESOURCE: CataloguedResource = {
  resource: {
    url: 'https://api.example/report',
    description: 'A report',
    mimeType: 'text/plain',
    serviceName: 'Reports',
    tags: ['report'],
    iconUrl: 'https://api.example/icon.png',
  },
  terms: [TERMS],
  updatedAt: Date.UTC(2026, 0, 2),
  extensions: { bazaar: { info: {} } },
};
const BARE: CataloguedResource = { ...RESOURCE, resource: { url: 'https://api.example/:name' }, terms: [] };
const PAGE = { items: [RESOURCE, BARE], limit: 2, offset: 0, total: 3 };

const DOCUMENTED: [string, z.ZodType, object][] = [
  ['a body of version 2', facilitatorBody, BODY_V2],
  ['a body of version 2 that states it', facilitatorBody, { ...BODY_V2, x402Version: 2 }],
  ['a body of version 1', facilitatorBody, BODY_V1],
  ['a body of version 1 that states it', facilitatorBody, { ...BODY_V1, x402Version: 1 }],
  ['a good payment', verifyResponse, encodeVerification({ ok: true, payer: PAYER })],
  [
    'a payment that is refused',
    verifyResponse,
    encodeVerification({ ok: false, reason: 'insufficient_funds', message: 'Too little.', payer: PAYER }),
  ],
  ...Object.entries(SETTLEMENTS).flatMap(([name, settlement]) =>
    ([1, 2] as const).map((version): [string, z.ZodType, object] => [
      `a ${name} settlement in version ${version}`,
      settleResponse,
      encodeSettlement(settlement, 'solana-devnet', version),
    ]),
  ),
  [
    'what is supported',
    supportedResponse,
    encodeSupported({
      kinds: [{ scheme: 'exact', network: 'solana-devnet', feePayer: FEE_PAYER, hint: HINT }],
      extensions: ['bazaar'],
      signers: [FEE_PAYER],
    }),
  ],
  ['a page of what is listed', discoveryResponse, encodeDiscovery(PAGE)],
  ['a page of what was found', searchResponse, encodeDiscoverySearch(PAGE)],
  ['the last page of it', searchResponse, encodeDiscoverySearch({ ...PAGE, total: 2 })],
  [
    'the addresses',
    wellKnownResponse,
    encodeWellKnown(['https://api.example/report'], 'https://api.example/discovery'),
  ],
];

test.each(DOCUMENTED)('%s is of the documented form, every field of it', (_, schema, value) => {
  expect(schema.parse(value)).toEqual(value);
});

test.each<[string, z.ZodType, object]>([
  [
    'a body whose payment and requirements are of two versions',
    facilitatorBody,
    { ...BODY_V2, ...{ paymentRequirements: REQUIREMENTS_V1 } },
  ],
  ['a body that states another version', facilitatorBody, { ...BODY_V2, x402Version: 1 }],
  ['a verification without a verdict', verifyResponse, { payer: PAYER }],
  ['a settlement without its network', settleResponse, { success: true, transaction: '' }],
  [
    'a kind of version 3',
    supportedResponse,
    {
      ...encodeSupported({ kinds: [], extensions: [], signers: [] }),
      kinds: [{ x402Version: 3, scheme: 'exact', network: 'solana', extra: {} }],
    },
  ],
  ['a page without its end', discoveryResponse, { ...encodeDiscovery(PAGE), pagination: { limit: 1, offset: 0 } }],
  [
    'a search that does not say whether there is more',
    searchResponse,
    { ...encodeDiscoverySearch(PAGE), partialResults: undefined },
  ],
  ['addresses of another version', wellKnownResponse, { ...encodeWellKnown([], ''), version: 2 }],
])('%s is not of the documented form', (_, schema, value) => {
  expect(schema.safeParse(value).success).toBe(false);
});
