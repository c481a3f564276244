import { z } from 'zod';
import { defined } from '../../lib/defined.js';
import { firstFault, type Parsed, parsed, shown, unparsed } from '../../lib/parsed.js';
import { toCaip2 } from '../../protocol/networks/networks.js';
import { readHeader } from '../../protocol/wire/json.js';
import { CLOCK_SKEW_MS, SIGN_IN_MS, type SignInSetup } from '../sign-in-options.js';
import type { InspectedProof, RefusedProof, SignInChallenge } from '../types.js';
import type { IssuedNonces } from './issued-nonce.js';
import { createSignInUses, type SignInUses, type TakenSignIn } from './sign-in-uses.js';
import { type Addressed, boundOf, isPlaceOf, type Site, siteOf } from './site.js';
import { buildSiwsMessage, parseSiwsMessage, type SiwsMessage } from './siws-message.js';
import { isSignedBy, readBase58Signature } from './wallet-signature.js';

/** The x402 extension `sign-in-with-x`: a wallet proves itself with one header. */
export interface Siwx {
  /** A challenge for the address of a request. Nothing is stored for it. */
  challenge(asked: Addressed): Promise<SignInChallenge>;
  /** Judges the header of a request. Nothing is written down before its use is taken. */
  inspect(header: string, asked: Addressed): Promise<InspectedProof>;
  /** The wallet whose sign-in was given back to a request to the same address; see `Identity.recall`. */
  recall(nonce: string, asked: Addressed): Promise<InspectedProof>;
}

/** Name of the header and, in lower case, of the extension. */
export const SIWX_HEADER = 'SIGN-IN-WITH-X';

const EXTENSION = 'sign-in-with-x';
const REQUIRED = ['domain', 'address', 'uri', 'version', 'chainId', 'type', 'nonce', 'issuedAt', 'signature'];
const OPTIONAL = ['statement', 'expirationTime', 'notBefore', 'requestId'];

// Other languages send null for what is missing (protocol/README.md, "Version 2").
const text = z.string('a text');
const optionalText = text.nullish().transform((it) => it ?? undefined);

/** What the header holds: the fields of the message, and its signature (the type file of `@x402/extensions`). */
const payloadSchema = z.object({
  domain: text,
  address: text,
  statement: optionalText,
  uri: text,
  version: text,
  chainId: text,
  type: z.literal('ed25519', '"ed25519": only Solana wallets sign in here'),
  nonce: text,
  issuedAt: text,
  expirationTime: optionalText,
  notBefore: optionalText,
  requestId: optionalText,
  resources: z
    .array(text)
    .nullish()
    .transform((it) => it ?? undefined),
  signature: text,
});

/** The form of the payload for clients, JSON Schema 2020-12. */
const PAYLOAD_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    ...Object.fromEntries([...REQUIRED, ...OPTIONAL].map((name) => [name, { type: 'string' }])),
    resources: { type: 'array', items: { type: 'string' } },
  },
  required: REQUIRED,
};

interface SignedMessage {
  readonly message: SiwsMessage;
  readonly text: string;
  readonly signature: Uint8Array;
}

type SiwxSetup = SignInSetup & { readonly nonces: IssuedNonces };

/** Makes the extension for one network. */
export function createSiwx(setup: SiwxSetup): Siwx {
  const uses = createSignInUses('siwx', setup);
  return {
    challenge: (asked) => challenge(setup, asked),
    inspect: (header, asked) => inspect(setup, uses, header, asked),
    recall: (nonce, asked) => recall(setup, uses, nonce, asked),
  };
}

async function challenge(setup: SiwxSetup, asked: Addressed): Promise<SignInChallenge> {
  const site = siteOf(setup, asked);
  if (!site.ok) throw site.error;
  const { domain } = site.value;
  const { uri, requestId } = boundOf(site.value, asked);
  const { nonce, issuedAt } = await setup.nonces.issue(boundTo(site.value));
  const info = {
    domain,
    uri,
    version: '1',
    nonce,
    issuedAt: new Date(issuedAt).toISOString(),
    expirationTime: new Date(issuedAt + SIGN_IN_MS).toISOString(),
    statement: setup.statement,
    ...defined({ requestId }),
  };
  const supportedChains = [{ chainId: toCaip2(setup.network), type: 'ed25519', signatureScheme: 'siws' }];
  return { extensions: { [EXTENSION]: { info, supportedChains, schema: PAYLOAD_SCHEMA } } };
}

async function inspect(setup: SiwxSetup, uses: SignInUses, header: string, asked: Addressed): Promise<InspectedProof> {
  const site = siteOf(setup, asked);
  const signed = readProof(header, toCaip2(setup.network));
  if (!site.ok) return { proof: refused(site.error.message.replace(/\.$/, '')) };
  if (!signed.ok) return { proof: refused(signed.detail) };
  const { message, text, signature } = signed.value;
  const { address: wallet, nonce } = message;
  const fault = siteFault(message, site.value, asked) ?? timeFault(message, setup.now());
  if (fault !== undefined) return { proof: refused(fault) };
  if (!isSignedBy(wallet, text, signature)) {
    return { proof: refused(`its signature is not that of ${wallet} over this message`) };
  }
  if ((await setup.nonces.open(nonce, boundTo(site.value))) === undefined) {
    const detail = `its nonce ${shown(nonce)} was not issued here, or more than 5 minutes ago; ask for a new challenge and sign that`;
    return { proof: refused(detail) };
  }
  if (await uses.isUsed(nonce)) return { proof: REPLAYED };
  const [signIn, place] = [{ nonce, wallet }, placeOf(site.value, asked)];
  return provenOnce(
    wallet,
    () => uses.take(signIn),
    (taken, next) => taken.giveBack(place, next),
  );
}

async function recall(setup: SiwxSetup, uses: SignInUses, nonce: string, asked: Addressed): Promise<InspectedProof> {
  const site = siteOf(setup, asked);
  if (!site.ok || (await setup.nonces.open(nonce, boundTo(site.value))) === undefined) return ABSENT;
  const place = placeOf(site.value, asked);
  const signIn = await uses.find(nonce, place);
  if (signIn === undefined) return ABSENT;
  return provenOnce(
    signIn.wallet,
    () => uses.takeAgain(signIn),
    // What was not signed gets no further names: they would never end.
    (taken) => taken.giveBack(place),
  );
}

function provenOnce(
  address: string,
  take: () => Promise<TakenSignIn | undefined>,
  giveBack: (taken: TakenSignIn, next?: string) => Promise<void>,
): InspectedProof {
  let taken: TakenSignIn | undefined;
  return {
    proof: { status: 'proven', wallet: { address, by: 'siwx', scopes: [] } },
    use: {
      async take() {
        taken = await take();
        return taken === undefined ? REPLAYED : undefined;
      },
      giveBack: async (next) => taken && giveBack(taken, next),
    },
  };
}

function placeOf({ place, path }: Site, { method = '' }: Addressed): string {
  return `${method} ${place}${path}`;
}

const ABSENT: InspectedProof = { proof: { status: 'absent' } };

const REPLAYED: RefusedProof = {
  status: 'refused',
  code: 'sign_in_replayed',
  detail: `${SIWX_HEADER}: its nonce was used before; ask for a new challenge and sign that.`,
};

/** Whoever asks for a challenge is not known, so a nonce is bound to the site alone. */
function boundTo({ place }: Site): string {
  return `siwx ${place}`;
}

function refused(detail: string): RefusedProof {
  return { status: 'refused', code: 'invalid_sign_in', detail: `${SIWX_HEADER}: ${detail}.` };
}

/** Reads the header. Only what the signed text says is believed, so the message is read back from that. */
function readProof(header: string, chainId: string): Parsed<SignedMessage> {
  const json = readHeader('the header', header);
  if (!json.ok) return json;
  const payload = payloadSchema.safeParse(json.value);
  if (!payload.success) return unparsed(`its payload is not valid, ${firstFault(payload.error.issues)}`);
  const { signature: signatureText, type: _, ...fields } = payload.data;
  if (fields.chainId !== chainId)
    return unparsed(`it is for the chain ${shown(fields.chainId)}; this one is ${chainId}`);
  const text = buildSiwsMessage({ ...fields, chainId: chainId.slice('solana:'.length) });
  const message = parseSiwsMessage(text);
  if (!message.ok) return message;
  const signature = readBase58Signature(signatureText);
  if (signature === undefined) return unparsed('its signature is not base58 of 64 bytes');
  return parsed({ message: message.value, text, signature });
}

/** A proof is good for what it names, and the one for the site as a whole names no request. */
function siteFault({ domain, uri, requestId }: SiwsMessage, site: Site, asked: Addressed): string | undefined {
  const [scheme] = site.origin.split('//');
  if (!isPlaceOf(site, `${scheme}//${domain}`))
    return `it is for the domain ${shown(domain)}; this one is ${shown(site.domain)}`;
  const address = URL.canParse(uri) ? new URL(uri) : undefined;
  if (address === undefined || address.username !== '' || address.password !== '') {
    return `its URI ${shown(uri)} is not an address`;
  }
  if (!isPlaceOf(site, address.origin)) return `its URI is of ${shown(address.origin)}; this is ${shown(site.origin)}`;
  const bound = boundOf(site, asked);
  const path = new URL(bound.uri).pathname;
  if (address.pathname !== path) return `its URI is for the path ${shown(address.pathname)}; this takes ${shown(path)}`;
  if (asked.scope !== 'site' && site.writtenPath !== site.path && site.writtenPath !== '') {
    return `the request is written as ${shown(site.writtenPath)}, which routers may read in another way; send it as ${shown(site.path)}`;
  }
  const isOpen = asked.scope !== 'site' && bound.requestId === undefined;
  if (isOpen || requestId === bound.requestId) return undefined;
  return `its request id is ${shown(requestId ?? '')}; this takes ${bound.requestId === undefined ? 'none' : shown(bound.requestId)}`;
}

function timeFault(message: SiwsMessage, now: number): string | undefined {
  const { issuedAt, notBefore } = message;
  if (Date.parse(issuedAt) > now + CLOCK_SKEW_MS) return `it was issued in the future, at ${issuedAt}`;
  if (notBefore !== undefined && Date.parse(notBefore) > now) return `it is not valid before ${notBefore}`;
  if (now < endOf(message)) return undefined;
  return `it expired at ${new Date(endOf(message)).toISOString()}; ask for a new challenge and sign that`;
}

/** When a message is no longer accepted, in milliseconds since the epoch. */
function endOf({ issuedAt, expirationTime }: SiwsMessage): number {
  const latest = Date.parse(issuedAt) + SIGN_IN_MS;
  return expirationTime === undefined ? latest : Math.min(latest, Date.parse(expirationTime));
}
