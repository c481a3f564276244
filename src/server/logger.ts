import { doWithout } from '../lib/optional-packages.js';
import { plain } from '../lib/plain-text.js';
import type { RequestLogger } from '../middleware/tracing/request-log.js';
import type { LogFormat, LogLevel } from './configuration/configuration.js';
import { LogOutput, type LogTarget, standardLogOutput } from './log-output.js';

/** How a log is written if nobody says it: for people on a terminal, for programs elsewhere. */
export function usualLogFormat(): LogFormat {
  return process.stdout.isTTY === true ? 'text' : 'json';
}

/** What the server writes its log with; a pino logger is one. */
export interface ServerLogger extends RequestLogger {
  warn(fields: object, message: string): void;
}

/** Fields that never show their value, wherever in a line they are, at most two levels deep. */
const SECRET_FIELDS = [
  'authorization',
  'cookie',
  'payment-signature',
  'x-payment',
  'x-service-payment',
  'x-service-secret',
  'sign-in-with-x',
  'access-pass',
  'set-cookie',
  'idempotency-key',
  'payment-required',
  'keypair',
  'secretKey',
  'jwtSecret',
  'secretsKey',
  'api_secret',
  'secret',
  'access_token',
  'refresh_token',
  'token',
];

const LINES_LOST =
  'lines of the log were lost, as standard output took none (ENOSPC: its disk is full; EAGAIN: its reader is behind; EPIPE: it has gone)';

const NO_LOG = 'the package "pino" is not installed, so nothing is logged; install it, or set LOG_LEVEL=silent';
/** A server makes its log, and so does who starts it. */
let isNoLogTold = false;

/** Writes nothing. */
export const SILENT: ServerLogger = { info() {}, warn() {}, error() {} };

/**
 * Makes the log, by pino, secrets redacted: a JSON line each, with `level`, `time`, `msg` and what else there is, or a line for people. Where
 * pino is not installed there is none, and a warning says so.
 * @param target - default standard output, where whoever runs servers collects logs
 * @param format - default `json`, and on a terminal `text`
 */
export async function createLogger(
  level: LogLevel,
  target?: LogTarget,
  format: LogFormat = target === undefined ? usualLogFormat() : 'json',
): Promise<ServerLogger> {
  if (level === 'silent') return SILENT;
  const loaded = await loadPino();
  if (loaded === undefined) {
    if (!isNoLogTold) process.emitWarning(NO_LOG, { code: 'TOLLHOUSE_NO_LOG' });
    isNoLogTold = true;
    return SILENT;
  }
  const { pino, stdTimeFunctions } = loaded;
  const names = SECRET_FIELDS.map((name) => `["${name}"]`);
  const options = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: names.flatMap((name) => [name, `*${name}`, `*.*${name}`]), censor: '[redacted]' },
  };
  const lines = target ?? standardLogOutput();
  const logger: ServerLogger = pino(options, format === 'json' ? lines : forPeople(lines));
  if (lines instanceof LogOutput) {
    lines.onLost = (lost, reason) => logger.error({ lost, reason }, LINES_LOST);
  }
  return logger;
}

/** Turns JSON lines into `12:30:05 WARN what happened key=value`. */
function forPeople(target: LogTarget): LogTarget {
  return {
    write(line) {
      const { level, time, msg, ...fields }: Record<string, unknown> = JSON.parse(line);
      const rest = Object.entries(fields).map(([name, value]) => ` ${name}=${oneLine(value)}`);
      target.write(`${String(time).slice(11, 19)} ${String(level).toUpperCase()} ${oneLine(msg)}${rest.join('')}\n`);
    },
  };
}

/** What comes from elsewhere neither ends its line nor steers the terminal. */
function oneLine(value: unknown): string {
  return plain(typeof value === 'string' ? value : JSON.stringify(value));
}

async function loadPino(): Promise<Pick<typeof import('pino'), 'pino' | 'stdTimeFunctions'> | undefined> {
  try {
    return await import('pino');
  } catch (cause) {
    return doWithout('pino', cause);
  }
}
