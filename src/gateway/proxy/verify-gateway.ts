import { createHash, timingSafeEqual } from 'node:crypto';
import { badOption } from '../../errors/errors.js';
import {
  callHmac,
  type GatewayPayment,
  SIGNATURE_HEADER,
  SIGNATURE_VERSION,
  SIGNED_HEADERS,
  type SignedCall,
} from './gateway-signature.js';

/** The parts of a request that are looked at: those of `node:http` and of Express. */
export interface GatewayRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  /** Express's: the address before routers cut it. */
  readonly originalUrl?: string | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** Options of {@link verifyGateway}. */
export interface VerifyGatewayOptions {
  /** How old or how far ahead a call may be, in seconds. Default 300. */
  readonly toleranceSeconds?: number | undefined;
  /**
   * The body as it arrived, for instance from `express.raw()`; an object without fields, which Express 4 leaves where
   * there is none, counts as empty. Default: the body is not compared with its digest.
   */
  readonly body?: Uint8Array | string | object | undefined;
  /** Path and query that the gateway called, where something in between has rewritten them. Default: the request's. */
  readonly path?: string | undefined;
  /** The clock, in milliseconds. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/** A call that came from the gateway: who paid, as far as the gateway told. */
export interface VerifiedCall extends GatewayPayment {
  readonly ok: true;
  /** New for each call; remember it for the tolerance to refuse copies of one. */
  readonly id: string;
  /**
   * Whether `body` was given and is what the gateway signed. Bodies of more than 1 MiB are streamed through and not
   * signed.
   */
  readonly bodyVerified: boolean;
}

/** Why a call is not believed to come from the gateway. */
export type GatewayFault =
  /** It has no signature: somebody calls directly. */
  | 'missing_signature'
  /** It was signed with another secret, or method, path or headers are not those that were signed. */
  | 'wrong_signature'
  /** The signature is right and too old, or from the future. */
  | 'outside_tolerance'
  /** The body is not the one that was signed. */
  | 'wrong_body';

/** What {@link verifyGateway} found. */
export type GatewayVerification = VerifiedCall | { readonly ok: false; readonly reason: GatewayFault };

const DEFAULT_TOLERANCE_SECONDS = 300;
const SHA256_HEX = /^[\da-f]{64}$/;
const SECONDS = /^\d{1,12}$/;

/**
 * For an upstream behind the gateway: whether a request comes from there, and who paid for it. Headers such as
 * `X-Tollhouse-Payer` are to be believed from the response of this function only. Signatures are compared in constant time.
 *
 * ```ts
 * app.use(express.raw({ type: () => true, limit: '10mb' }), (req, res, next) => {
 *   const call = verifyGateway(req, process.env.GATEWAY_SECRET, { body: req.body });
 *   if (!call.ok) return res.status(403).end();
 *   next();
 * });
 * ```
 * @param secret - the project's secret (`gws_…`), or several while it is being changed
 * @throws TollhouseError `bad_option` when there is no secret or an empty one, or when the body was parsed already
 */
export function verifyGateway(
  req: GatewayRequest,
  secret: string | readonly string[] | undefined,
  options: VerifyGatewayOptions = {},
): GatewayVerification {
  const secrets = secretsOf(secret);
  const call = readCall(req, options.path);
  const signatures = headerOf(req, SIGNATURE_HEADER)?.split(' ');
  if (call === undefined || signatures === undefined) return { ok: false, reason: 'missing_signature' };
  if (!isSigned(call, signatures, secrets)) return { ok: false, reason: 'wrong_signature' };
  const { toleranceSeconds = DEFAULT_TOLERANCE_SECONDS, body, now = Date.now } = options;
  const ageSeconds = now() / 1000 - Number(call.timestamp);
  if (!SECONDS.test(call.timestamp) || !(Math.abs(ageSeconds) <= toleranceSeconds)) {
    return { ok: false, reason: 'outside_tolerance' };
  }
  const bodyVerified = body !== undefined && SHA256_HEX.test(call.bodyDigest);
  if (bodyVerified && digestOf(body) !== call.bodyDigest) return { ok: false, reason: 'wrong_body' };
  const { id, payer, amount, token, payment } = call;
  return { ok: true, id, bodyVerified, ...present({ payer, amount, token, payment }) };
}

function secretsOf(secret: string | readonly string[] | undefined): readonly string[] {
  const secrets = [secret ?? []].flat();
  if (secrets.length > 0 && secrets.every((it) => typeof it === 'string' && it !== '')) return secrets;
  throw badOption('verifyGateway', "give the project's gateway secret, or a list of them", 'secret');
}

function digestOf(body: Uint8Array | string | object): string {
  const hash = createHash('sha256');
  if (typeof body === 'string' || body instanceof Uint8Array) return hash.update(body).digest('hex');
  if (Object.keys(body).length === 0) return hash.digest('hex');
  throw badOption('verifyGateway', 'the body must be given as it arrived, not parsed', 'body');
}

/** The call as its headers tell it; undefined where one that always comes is missing. */
function readCall(req: GatewayRequest, path = req.originalUrl ?? req.url ?? ''): SignedCall | undefined {
  const [id, timestamp, bodyDigest] = [
    headerOf(req, SIGNED_HEADERS.id),
    headerOf(req, SIGNED_HEADERS.timestamp),
    headerOf(req, SIGNED_HEADERS.bodyDigest),
  ];
  if (id === undefined || timestamp === undefined || bodyDigest === undefined) return undefined;
  const told = {
    payer: headerOf(req, SIGNED_HEADERS.payer),
    amount: headerOf(req, SIGNED_HEADERS.amount),
    token: headerOf(req, SIGNED_HEADERS.token),
    payment: headerOf(req, SIGNED_HEADERS.payment),
  };
  return { id, timestamp, method: req.method ?? '', path, bodyDigest, ...present(told) };
}

function present(parts: Readonly<Record<keyof GatewayPayment, string | undefined>>): GatewayPayment {
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined));
}

function isSigned(call: SignedCall, signatures: readonly string[], secrets: readonly string[]): boolean {
  const given = signatures
    .filter((it) => it.startsWith(SIGNATURE_VERSION))
    .map((it) => Buffer.from(it.slice(SIGNATURE_VERSION.length), 'base64'));
  const expected = secrets.map((secret) => callHmac(call, secret));
  return given.some((one) => expected.some((other) => one.length === other.length && timingSafeEqual(one, other)));
}

function headerOf({ headers }: GatewayRequest, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}
