import { loadIfInstalled } from '../lib/optional-packages.js';
import type { RequestLogger } from '../middleware/gate/request-log.js';
import type { LogLevel } from './configuration/configuration.js';

/** Where a log is written; a stream is one. */
export interface LogTarget {
  write(line: string): unknown;
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

const SILENT: ServerLogger = { info() {}, warn() {}, error() {} };

/**
 * Makes the log: JSON lines by pino, secrets redacted. Where pino is not installed there is none, and a warning says so.
 * @param target - default standard output, where whoever runs servers collects logs
 */
export async function createLogger(level: LogLevel, target?: LogTarget): Promise<ServerLogger> {
  if (level === 'silent') return SILENT;
  const loaded = await loadIfInstalled('pino', () => import('pino'));
  if (loaded === undefined) {
    process.emitWarning(
      'the package "pino" is not installed, so nothing is logged; install it, or set LOG_LEVEL=silent',
      {
        code: 'TOLLHOUSE_NO_LOG',
      },
    );
    return SILENT;
  }
  const { destination, pino, stdTimeFunctions } = loaded;
  const names = SECRET_FIELDS.map((name) => `["${name}"]`);
  const options = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    redact: { paths: names.flatMap((name) => [name, `*${name}`, `*.*${name}`]), censor: '[redacted]' },
  };
  const logger: ServerLogger = pino(options, target ?? destination(1));
  return logger;
}
