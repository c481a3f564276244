import { TollhouseError } from '../errors/errors.js';
import { wholeError } from '../lib/error-text.js';
import { plainLines } from '../lib/plain-text.js';
import { RpcError } from '../solana/rpc/rpc.js';
import { CommandError, RefusedError, UsageError } from './command.js';
import { jsonText } from './output/terminal.js';

/** What to do when a node does not answer. */
const NODE_ADVICE =
  'is the node running? "tollhouse serve" and "tollhouse sandbox" start a local one; --rpc, or SOLANA_RPC_URL, names another';

/** What sets where a server listens. */
interface ListenSettings {
  readonly port: string;
  readonly host: string;
}

/** What to do when a server cannot listen, by the code of the system. */
const LISTEN_ADVICE: Readonly<Record<string, (by: ListenSettings) => string>> = {
  EADDRINUSE: ({ port }) =>
    `something listens there, perhaps another server of yours: stop it, or choose another port by ${port}`,
  EADDRNOTAVAIL: ({ host }) =>
    `this machine has no such address: set ${host} to one of its own, or to 0.0.0.0 for all of them`,
  EACCES: ({ port }) => `ports below 1024 are not for everybody: choose another one by ${port}`,
};
const USUAL_PORT: ListenSettings = { port: '--port', host: 'HOST' };
const OPERATOR_PORT: ListenSettings = { port: 'METRICS_PORT', host: 'METRICS_HOST' };

/**
 * Tells on standard error what went wrong: mistakes and outages in a sentence, as JSON where that was asked for; only bugs show
 * where they are.
 * @param before - what the sentence begins with
 */
export function reportError(error: unknown, asJson: boolean, before = ''): void {
  const known = knownError(error);
  if (asJson) {
    const { code, message } = known ?? { code: 'internal_error', message: String(error) };
    console.error(jsonText({ error: { code, message: `${before}${message}` } }));
  } else console.error(known === undefined ? error : `tollhouse: ${before}${plainLines(known.message)}`);
}

function knownError(error: unknown): { readonly code: string; readonly message: string } | undefined {
  if (!(error instanceof Error)) return undefined;
  const { message } = error;
  if (error instanceof UsageError) return { code: 'usage', message };
  if (error instanceof RefusedError) return { code: error.code ?? 'refused', message };
  if (error instanceof CommandError) return { code: 'failed', message };
  if (error instanceof TollhouseError) return { code: error.code, message: wholeError(error) };
  if (error instanceof RpcError) return { code: 'chain_unavailable', message: `${message}; ${NODE_ADVICE}` };
  // Of the system: a file or a port that cannot be had.
  const syscall: unknown = Reflect.get(error, 'syscall');
  if (typeof syscall !== 'string') return undefined;
  const code = String(Reflect.get(error, 'code'));
  const settings = message.startsWith(`${OPERATOR_PORT.port}: `) ? OPERATOR_PORT : USUAL_PORT;
  const advice = syscall === 'listen' ? LISTEN_ADVICE[code]?.(settings) : undefined;
  return { code, message: advice === undefined ? message : `${message}; ${advice}` };
}
