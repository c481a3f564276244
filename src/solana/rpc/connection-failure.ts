/** How an HTTP call ended without a response. */
export interface ConnectionFailure {
  /** The system's or undici's error code, `unknown` where there is none. */
  readonly code: string;
  /** Whether the request may have reached the other side; false only when no byte of it has left. */
  readonly mayHaveArrived: boolean;
}

/** Errors that prove that no byte of the request has left, unless they struck a connection that stood. */
const NOT_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_INVALID_ARG',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

/** System calls of a connection that stands: a way that breaks later has the same code as one that was never there. */
const CONNECTED: ReadonlySet<unknown> = new Set(['read', 'write']);

/** Reads the error of an HTTP call that got no response. */
export function connectionFailure(error: unknown): ConnectionFailure {
  const { code, syscall } = systemError(error);
  return { code, mayHaveArrived: !NOT_SENT.has(code) || CONNECTED.has(syscall) };
}

interface SystemError {
  readonly code: string;
  readonly syscall?: unknown;
}

/** The first system error in an error, its causes, and the attempts of a dual-stack connect. */
function systemError(error: unknown): SystemError {
  if (typeof error !== 'object' || error === null) return { code: 'unknown' };
  const code: unknown = Reflect.get(error, 'code');
  if (typeof code === 'string') return { code, syscall: Reflect.get(error, 'syscall') };
  const attempts: unknown = Reflect.get(error, 'errors');
  if (Array.isArray(attempts) && attempts.length > 0) return systemError(attempts[0]);
  return systemError(Reflect.get(error, 'cause'));
}
