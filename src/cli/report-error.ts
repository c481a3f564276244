import { TollhouseError } from '../errors/errors.js';
import { wholeError } from '../lib/error-text.js';
import { plainLines } from '../lib/plain-text.js';
import { RpcError } from '../solana/rpc/rpc.js';
import { CommandError, RefusedError, StoppedError, SystemError, UsageError } from './command.js';
import { asCalled } from './output/own-command.js';
import { fileFault } from './output/system-words.js';
import { jsonText } from './output/terminal.js';

/** What to do when a node does not answer. */
const NODE_ADVICE =
  'is the node running? "npx tollhouse serve" and "npx tollhouse sandbox" start a local one; --rpc, or SOLANA_RPC_URL, names another';

/**
 * Tells on standard error what went wrong: mistakes and outages in a sentence, as JSON where that was asked for; only bugs show
 * where they are.
 * @param before - what the sentence begins with
 */
export function reportError(thrown: unknown, asJson: boolean, before = ''): void {
  const error = thrown instanceof StoppedError ? thrown.cause : thrown;
  const known = knownError(error);
  if (asJson) {
    const { code, message } = known ?? { code: 'internal_error', message: String(error) };
    console.error(jsonText({ error: { code, message: asCalled(`${before}${message}`) } }));
  } else console.error(known === undefined ? error : `tollhouse: ${asCalled(before + plainLines(known.message))}`);
}

function knownError(error: unknown): { readonly code: string; readonly message: string } | undefined {
  if (!(error instanceof Error)) return undefined;
  const { message } = error;
  if (error instanceof UsageError) return { code: 'usage', message };
  if (error instanceof RefusedError) return { code: error.code ?? 'refused', message };
  if (error instanceof SystemError) return { code: error.code, message };
  if (error instanceof CommandError) return { code: 'failed', message };
  if (error instanceof TollhouseError) return { code: error.code, message: wholeError(error) };
  if (error instanceof RpcError) return { code: 'chain_unavailable', message: `${message}; ${NODE_ADVICE}` };
  // Of the system, such as a file that cannot be had.
  if (typeof Reflect.get(error, 'syscall') !== 'string') return undefined;
  const path: unknown = Reflect.get(error, 'path');
  const code = String(Reflect.get(error, 'code'));
  return { code, message: typeof path === 'string' ? `"${path}": ${fileFault(error)}` : message };
}
