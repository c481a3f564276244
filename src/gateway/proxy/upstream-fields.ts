import type { IncomingMessage } from 'node:http';
import type { Dispatcher } from 'undici';
import { plainName } from '../../lib/http/plain-name.js';
import { randomHex } from '../../lib/ids.js';
import { traceHeaders } from '../../telemetry/trace.js';
import { type Fields, hopByHop, pairsOf } from './header-fields.js';

/** Who calls, as the one that stands before us knows it. */
export interface Caller {
  /** Address. `X-Forwarded-For`. */
  readonly address?: string | undefined;
  /** `http` or `https`. `X-Forwarded-Proto`. */
  readonly protocol?: string | undefined;
  /** Host and port that were asked for. `X-Forwarded-Host`. */
  readonly host?: string | undefined;
}

/** Fields that an upstream gets from us or not at all. Credentials of ours among them: they are not the upstream's to see. */
const OURS: ReadonlySet<string> = new Set([
  'authorization',
  'content-length',
  'cookie',
  'cookie2',
  'host',
  'sign-in-with-x',
  'traceparent',
  'tracestate',
  'x-payment',
  'x-request-id',
]);
const OUR_FAMILIES = ['access-pass', 'payment-', 'x-forwarded-', 'x-payment-', 'x-service-', 'x-tollhouse-'];

/**
 * By which proxies, and parts of frameworks such as Next.js, tell a server who called them, and for what: a caller could name any address
 * as his, and ask for another path than the one that has the price.
 */
const OF_PROXIES: ReadonlySet<string> = new Set([
  'cf-connecting-ip',
  'cf-connecting-ipv6',
  'cf-pseudo-ipv4',
  'client-ip',
  'do-connecting-ip',
  'fastly-client-ip',
  'fly-client-ip',
  'forwarded',
  'proxy-client-ip',
  'true-client-ip',
  'wl-proxy-client-ip',
  'x-appengine-user-ip',
  'x-azure-clientip',
  'x-azure-socketip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-envoy-external-address',
  'x-envoy-original-path',
  'x-host',
  'x-invoke-output',
  'x-invoke-path',
  'x-invoke-query',
  'x-matched-path',
  'x-middleware-rewrite',
  'x-middleware-subrequest',
  'x-nf-client-connection-ip',
  'x-now-route-matches',
  'x-original-forwarded-for',
  'x-original-host',
  'x-original-uri',
  'x-original-url',
  'x-originating-ip',
  'x-real-ip',
  'x-remote-addr',
  'x-remote-ip',
  'x-rewrite-url',
  'x-vercel-forwarded-for',
]);

/** What is said of the bytes of a body, which does not hold for others. */
const OF_THE_BYTES: ReadonlySet<string> = new Set([
  'content-digest',
  'content-encoding',
  'content-md5',
  'digest',
  'repr-digest',
]);

const TRACE_PARENT = /^00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;

/**
 * The header fields that an upstream gets: the caller's without those of the connection, our credentials and payments, and
 * whatever could be mistaken for a word of ours; then ours.
 * @param given - fields of ours, of which later ones count; they replace those that the caller sent under the same names
 * @param isAsSent - whether the body goes out in the bytes in which it came
 */
export function upstreamFields(
  req: IncomingMessage,
  caller: Caller,
  given: readonly Readonly<Record<string, string>>[],
  isAsSent: boolean,
): string[] {
  const ours = new Map([callerFields(req, caller), traceFields(req), ...given].flatMap((it) => Object.entries(it)));
  const replaced = new Set([...ours.keys()].map(plainName));
  const received = fieldsReceived(req);
  const stays = hopByHop(received);
  const passed: string[] = [];
  for (const [name, value] of pairsOf(received)) {
    const plain = plainName(name);
    if (stays(plain) || isOurs(plain) || replaced.has(plain)) continue;
    if (isAsSent || !OF_THE_BYTES.has(plain)) passed.push(name, value);
  }
  return [...passed, ...fieldsOf(ours)];
}

/** Adapters for functions in a cloud make requests that have parsed header fields only. */
function fieldsReceived({ headers, rawHeaders }: IncomingMessage): Fields {
  if (rawHeaders.length > 0) return rawHeaders;
  return Object.entries(headers).flatMap(([name, value]) => [value ?? []].flat().flatMap((it) => [name, it]));
}

function isOurs(name: string): boolean {
  return OURS.has(name) || OF_PROXIES.has(name) || OUR_FAMILIES.some((family) => name.startsWith(family));
}

function callerFields({ socket, headers }: IncomingMessage, caller: Caller): Record<string, string | undefined> {
  const encrypted = Reflect.get(socket, 'encrypted') === true;
  return {
    'x-forwarded-for': caller.address ?? socket.remoteAddress,
    'x-forwarded-proto': caller.protocol ?? (encrypted ? 'https' : 'http'),
    'x-forwarded-host': caller.host ?? headers.host,
  };
}

/**
 * The caller's trace goes on; without one, or with a broken one, a new one begins (W3C Trace Context). Where this process is traced
 * as well it goes on by way of this process's own span.
 */
function traceFields({ headers }: IncomingMessage): Record<string, string | undefined> {
  const own = traceHeaders();
  if (own['traceparent'] !== undefined) return own;
  const { traceparent, tracestate } = headers;
  if (typeof traceparent !== 'string' || !TRACE_PARENT.test(traceparent)) {
    return { traceparent: `00-${randomHex(16)}-${randomHex(8)}-01` };
  }
  return { traceparent, tracestate: typeof tracestate === 'string' ? tracestate : undefined };
}

function fieldsOf(fields: ReadonlyMap<string, string | undefined>): Fields {
  return [...fields].flatMap(([name, value]) => (value === undefined ? [] : [name, value]));
}

/** The method of a request. */
export function methodOf(req: IncomingMessage): Dispatcher.HttpMethod {
  return req.method ?? 'GET';
}
