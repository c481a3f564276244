import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Transform } from 'node:stream';
import { TollhouseError } from '../../errors/errors.js';
import { isClientGone } from '../../lib/http/connection-events.js';
import { receivedBody } from '../../lib/http/received-body.js';
import { discardRest } from '../../lib/http/unread-body.js';
import { newId } from '../../lib/ids.js';
import { untraced } from '../../telemetry/trace.js';
import type { AddressGuard } from '../network-guard/address-guard.js';
import { openAgent } from '../network-guard/open-agent.js';
import type { ExchangeEnd, ExchangeRules } from './exchange-rules.js';
import { createExchanges } from './exchanges.js';
import { FAILURE_DETAILS } from './failure-details.js';
import { hopFields } from './gateway-hops.js';
import { type GatewayPayment, signatureHeaders, UNSIGNED_BODY } from './gateway-signature.js';
import { type BodyStart, declaredLength, isMoreToCome, readStart, wholeStream } from './request-body.js';
import { Exchange } from './response-relay.js';
import { withToldResets } from './told-resets.js';
import {
  NO_ADDITIONS,
  tellsSecret,
  type UpstreamAdditions,
  withAddedQuery,
  withoutAddedQuery,
} from './upstream-additions.js';
import { type Caller, methodOf, upstreamFields } from './upstream-fields.js';
import { withRetries } from './upstream-retries.js';
import { type ForwardFailure, inUpstreamSpan, type UpstreamAttempt } from './upstream-span.js';
import { publicLocation, type UpstreamTarget, upstreamTarget } from './upstream-target.js';

/** Options of {@link createUpstreamProxy}. */
export interface UpstreamProxyOptions {
  /** Keeps calls away from addresses that are not public. */
  readonly guard: AddressGuard;
  /** Largest response that is passed on, in bytes. Default 100 MiB. */
  readonly maxResponseBytes?: number;
  /** How long a response may stand still once it has begun, in milliseconds, whoever holds it up. Default 30,000. */
  readonly idleTimeoutMs?: number;
  /** The clock of the signatures, in milliseconds. Default `Date.now`. */
  readonly now?: () => number;
}

/** One call to pass on. */
export interface ForwardOptions {
  /** Address of the upstream, with its base path. */
  readonly url: string;
  /** What is appended to it: path and query as the caller wrote them, empty or from `/` or `?` on. */
  readonly rest: string;
  /** What the caller wrote before `rest`: `/v1/<slug>`. Redirects of the upstream are told below it. */
  readonly publicPath: string;
  /** How long the upstream may take until the head of its response, from the last byte of the request that moved, all tries together. */
  readonly timeoutMs: number;
  /** Largest body that is taken, in bytes. Default 10 MiB. */
  readonly maxBodyBytes?: number;
  /** The project's secrets (`signingSecrets`): the call is signed with each. */
  readonly secrets: readonly string[];
  /** `X-Request-Id`. */
  readonly requestId: string;
  /** Who calls. Default: what the socket and `Host` say. */
  readonly caller?: Caller;
  /** Who paid what. */
  readonly payment?: GatewayPayment;
  /** What it is told of the key that the call came with. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What the upstream's owner adds, asked for when the call is sent. Default: nothing. */
  readonly additions?: (() => UpstreamAdditions) | undefined;
  /** How often a GET or HEAD without a body is sent again that got no byte of a response. Default 0. */
  readonly retries?: number | undefined;
  /**
   * Called with the upstream's status right before the head of the response is written, when the upstream's headers are on it
   * already, for instance to add a receipt; what it answers replaces headers of the same names. A promise is waited for. What it
   * throws ends both connections, and `forward` rejects with it.
   */
  readonly beforeHead?: ExchangeRules['beforeHead'];
  /** Called with the upstream's status before the last bytes of a whole response leave, which wait some seconds for it. */
  readonly beforeEnd?: ExchangeRules['beforeEnd'];
  /**
   * Called with the upstream's status when the upstream breaks off after that head has left; the caller learns of it when the
   * promise is over. What it rejects with `forward` rejects with.
   */
  readonly beforeCut?: ExchangeRules['beforeCut'];
  /** Whether the upstream is asked, and its response still written to `res`, though the caller has left, for those who record it. Default: no. */
  readonly outlivesCaller?: ExchangeRules['outlivesCaller'];
}

/** The upstream answered, whatever its status, and its whole response left for the caller. */
export interface Delivered {
  readonly delivered: true;
  /** Status of the upstream. */
  readonly status: number;
  /** From when the upstream was called until the end, in milliseconds. */
  readonly durationMs: number;
}

/** The call failed. Where `headSent` is false nothing was written to the caller, who is still to be answered. */
export interface Undelivered {
  readonly delivered: false;
  /** All but `client_gone` are codes of the error table. */
  readonly reason: ForwardFailure;
  /** What happened, for the caller to read: nothing of the upstream. */
  readonly detail: string;
  /** Status of the upstream, where it answered. */
  readonly status?: number;
  /** Whether some of the response was sent; the connection is cut then. */
  readonly headSent: boolean;
  /** From when the upstream was called until the end, in milliseconds; 0 when it was not called. */
  readonly durationMs: number;
  /** What went wrong underneath, for a log; it may name the upstream's host. */
  readonly cause?: unknown;
}

/** Passes calls on to upstreams. */
export interface UpstreamProxy {
  /**
   * Passes one call on and streams the response back, never following redirects. Of a body that was read before, what is
   * left of it is sent (`lib/http/received-body.ts`).
   * It never answers by itself when the upstream fails: the caller does, with {@link GATEWAY_ERROR_HEADERS}.
   */
  forward(req: IncomingMessage, res: ServerResponse, options: ForwardOptions): Promise<Delivered | Undelivered>;
  /**
   * Gives up what has no whole response yet, as the process ends: those who wait for one can still be told. What is passed on
   * from then on is given up before its upstream learns of it. A response that is here whole leaves.
   */
  stop(): void;
  /** Ends all connections; calls under way fail. */
  close(): Promise<void>;
}

/** Marks an error as one of the gateway, not of the upstream. */
export const GATEWAY_ERROR_HEADERS = { 'X-Service-Error': 'gateway' } as const;

/** Takes them off a response that is an upstream's. */
export function takeOffErrorHeaders(res: ServerResponse): void {
  for (const name of Object.keys(GATEWAY_ERROR_HEADERS)) res.removeHeader(name);
}

const MIB = 1024 * 1024;
const DEFAULT_MAX_ANSWER_BYTES = 100 * MIB;
const DEFAULT_MAX_BODY_BYTES = 10 * MIB;
const DEFAULT_IDLE_TIMEOUT_MS = 30_000;
/** Bodies up to this size are signed; larger ones are streamed. */
const MAX_SIGNED_BYTES = MIB;
/** A name is resolved and checked anew after this time, however busy the connection is. */
const CONNECTION_LIFE_MS = 60_000;
/** They lead the response elsewhere, or show the caller what was added to its request. */
const REFUSED_METHODS: ReadonlySet<string> = new Set(['CONNECT', 'TRACE']);

const READ_BEFORE = 'The app has read the body before it came to the gateway, and it cannot be passed on as it was:';
const MOUNT_BEFORE =
  'Nothing was charged. In the app, mount createRouter() before express.json() and other body parsers, or keep the bytes as req.rawBody.';

/** Makes a proxy. Connections are kept and shared by all calls to the same upstream. */
export function createUpstreamProxy(options: UpstreamProxyOptions): UpstreamProxy {
  const { guard, now = Date.now } = options;
  const { maxResponseBytes = DEFAULT_MAX_ANSWER_BYTES, idleTimeoutMs = DEFAULT_IDLE_TIMEOUT_MS } = options;
  const exchanges = createExchanges();
  const opened = openAgent({
    connect: withToldResets(guard.connect),
    pipelining: 1,
    clientTtl: CONNECTION_LIFE_MS,
    keepAliveMaxTimeout: CONNECTION_LIFE_MS,
    // An exchange has timers of its own.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  async function attempt(req: IncomingMessage, res: ServerResponse, call: ForwardOptions): Promise<UpstreamAttempt> {
    const { url, publicPath, timeoutMs, maxBodyBytes = DEFAULT_MAX_BODY_BYTES } = call;
    const { beforeHead, beforeEnd, beforeCut, outlivesCaller } = call;
    const agent = await opened;
    const target = targetOf(req, call);
    if (typeof target === 'string') return failure(target);
    const start = await readStart(req, MAX_SIGNED_BYTES, maxBodyBytes);
    if (start.kind === 'gone' || (isClientGone(res) && outlivesCaller?.() !== true)) return failure('client_gone');
    if (start.kind === 'too_large') return failure('body_too_large');
    const begun = performance.now();
    const additions = call.additions?.() ?? NO_ADDITIONS;
    const toPublic = (location: string) =>
      withoutAddedQuery(publicLocation(location, url, target, publicPath), additions);
    const rules = {
      ...{ idleTimeoutMs, maxResponseBytes, toPublic, outlivesCaller, hasBody: start.bytes.length > 0 },
      ...{ isHidden: tellsSecret(additions), beforeHead, beforeEnd, beforeCut },
    };

    const send = async (headTimeoutMs: number): Promise<ExchangeEnd> => {
      const sent = withAddedQuery(target, additions);
      const headers = fieldsFor(req, { added: additions.headers, ...call }, sent, start, now());
      const isBodyDue = (): boolean => !Buffer.isBuffer(body) && isMoreToCome(body);
      const exchange = exchanges.begin(new Exchange(res, { headTimeoutMs, isBodyDue, ...rules }));
      const body: Buffer | Transform =
        start.kind === 'whole' ? start.bytes : wholeStream(req, start.bytes, maxBodyBytes, exchange.onBodyMoved);
      untraced(() => agent.dispatch({ method: methodOf(req), headers, body, ...sent }, exchange));
      try {
        return await exchange.ended;
      } finally {
        if (!Buffer.isBuffer(body)) body.destroy();
      }
    };

    const retries = isRepeatable(req, start) ? (call.retries ?? 0) : 0;
    return { end: await withRetries(res, { retries, timeoutMs }, send), durationMs: performance.now() - begun };
  }

  return {
    async forward(req, res, call) {
      try {
        const { end, durationMs } = await inUpstreamSpan(req, call.url, () => attempt(req, res, call));
        if (end.delivered) return { durationMs, ...end };
        return { ...end, detail: FAILURE_DETAILS[end.reason], headSent: res.headersSent, durationMs };
      } finally {
        discardRest(req, res);
      }
    },
    stop: exchanges.stop,
    close: async () => (await opened).destroy(),
  };
}

type ForwardHead = Pick<ForwardOptions, 'url' | 'rest' | 'maxBodyBytes'>;

/**
 * Why a call cannot be passed on whatever the upstream does, as far as its head tells, and what others have left of its body:
 * to be asked before it is paid for.
 */
export function forwardRefusal(req: IncomingMessage, head: ForwardHead): TollhouseError | undefined {
  const target = targetOf(req, head);
  if (typeof target === 'string') return new TollhouseError(target, FAILURE_DETAILS[target]);
  const body = receivedBody(req);
  if (body.kind === 'lost')
    return new TollhouseError('body_already_read', `${READ_BEFORE} ${body.why}. ${MOUNT_BEFORE}`);
  const isTooLarge = body.kind === 'read' && body.bytes.length > (head.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES);
  return isTooLarge ? new TollhouseError('body_too_large', FAILURE_DETAILS.body_too_large) : undefined;
}

/** Where a call goes, or why it cannot go there. */
function targetOf(req: IncomingMessage, { url, rest, maxBodyBytes = DEFAULT_MAX_BODY_BYTES }: ForwardHead) {
  if (REFUSED_METHODS.has(methodOf(req))) return 'method_not_allowed';
  const target = upstreamTarget(url, rest);
  if (target === undefined || hasForeignCoding(req)) return 'invalid_request';
  return (declaredLength(req) ?? 0) > maxBodyBytes ? 'body_too_large' : target;
}

function failure(reason: ForwardFailure): UpstreamAttempt {
  return { end: { delivered: false, reason }, durationMs: 0 };
}

/** Whether sending it twice does no more than sending it once. */
function isRepeatable(req: IncomingMessage, start: BodyStart): boolean {
  const isRead = req.method === 'GET' || req.method === 'HEAD';
  return isRead && start.kind === 'whole' && start.bytes.length === 0;
}

/** Codings other than `chunked` are undone by nobody here. */
function hasForeignCoding({ headers }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding'];
  return coding !== undefined && coding.trim().toLowerCase() !== 'chunked';
}

function fieldsFor(
  req: IncomingMessage,
  call: ForwardOptions & { readonly added: UpstreamAdditions['headers'] },
  target: UpstreamTarget,
  start: Extract<BodyStart, { readonly bytes: Buffer }>,
  nowMs: number,
): string[] {
  const bodyDigest = start.kind === 'whole' ? digestOf(start.bytes) : UNSIGNED_BODY;
  const signed = {
    id: newId('req'),
    timestamp: String(Math.floor(nowMs / 1000)),
    method: methodOf(req),
    path: target.path,
    bodyDigest,
    ...call.payment,
  };
  const length = start.kind === 'begun' ? declaredLength(req) : undefined;
  const given = [
    call.added,
    call.headers ?? {},
    length === undefined ? {} : { 'content-length': String(length) },
    { 'x-request-id': call.requestId, ...hopFields(req), ...signatureHeaders(signed, call.secrets) },
  ];
  return upstreamFields(req, call.caller ?? {}, given, start.kind === 'begun' || start.isAsSent);
}

/** Most calls have no body. */
const NO_BODY_DIGEST = createHash('sha256').digest('hex');

function digestOf(body: Uint8Array): string {
  return body.length === 0 ? NO_BODY_DIGEST : createHash('sha256').update(body).digest('hex');
}
