import { z } from 'zod';
import { type Parsed, parsed, unparsed } from '../../lib/parsed.js';
import { addressOf, signatureText } from '../../protocol/address.js';
import { type HeaderReader, readExtensions } from '../../protocol/wire/client.js';
import { writeHeader } from '../../protocol/wire/json.js';
import { buildSiwsMessage, parseSiwsMessage } from './siws-message.js';
import { SIWX_HEADER } from './siwx.js';

const text = z.string();
const optional = text.nullish().transform((it) => it ?? undefined);

const challengeSchema = z.object({
  'sign-in-with-x': z.object({
    info: z.object({
      domain: text,
      uri: text,
      version: text,
      nonce: text,
      issuedAt: text,
      statement: optional,
      expirationTime: optional,
      notBefore: optional,
      requestId: optional,
      resources: z
        .array(text)
        .nullish()
        .transform((it) => it ?? undefined),
    }),
    supportedChains: z.array(z.object({ chainId: text, type: text })),
  }),
});

const SOLANA = 'solana:';

type Challenge = z.infer<typeof challengeSchema>['sign-in-with-x'];

/** A sign-in that a response offers to wallets of Solana, as its client sees it. */
export interface OfferedSignIn {
  readonly info: Challenge['info'];
  readonly chain: Challenge['supportedChains'][number];
}

/** Who signs. */
interface Signer {
  readonly publicKey: Uint8Array;
  sign(message: Uint8Array): Uint8Array;
}

/** Reads the sign-in that a 401 or 402 offers; undefined where it offers none. */
export function readSignIn(header: HeaderReader): OfferedSignIn | undefined {
  const challenge = challengeSchema.safeParse(readExtensions(header));
  if (!challenge.success) return undefined;
  const { info, supportedChains } = challenge.data['sign-in-with-x'];
  const chain = supportedChains.find(({ chainId, type }) => chainId.startsWith(SOLANA) && type === 'ed25519');
  return chain && { info, chain };
}

/** Signs in as a wallet: the header that proves it. What site it is for is the caller's to look at. */
export function answerSignIn({ info, chain }: OfferedSignIn, signer: Signer): Parsed<Readonly<Record<string, string>>> {
  const address = addressOf(signer.publicKey);
  const message = buildSiwsMessage({ ...info, address, chainId: chain.chainId.slice(SOLANA.length) });
  const read = parseSiwsMessage(message);
  if (!read.ok) return unparsed(read.detail);
  const signature = signatureText(signer.sign(Buffer.from(message)));
  return parsed({ [SIWX_HEADER]: writeHeader({ ...info, ...chain, address, signature }) });
}
