import { notInstalled, type OptionalPackage, requireInstalled } from '../lib/optional-packages.js';
import { packagesFor } from '../storage/sql/needed-packages.js';
import type { ServerConfiguration } from './configuration/configuration.js';

type Configured = Pick<ServerConfiguration, 'chain' | 'databaseUrl' | 'redisUrl' | 'logLevel'>;

/**
 * Throws `missing_dependency` when a package is missing that the server cannot start without. The command that the error
 * tells installs them all, and with them what it starts without: pino for its log, prom-client for its figures.
 */
export function requirePackages({ chain, databaseUrl, redisUrl, logLevel }: Configured): void {
  const sandbox: readonly OptionalPackage[] = chain === undefined ? ['litesvm'] : [];
  const needed = [...sandbox, ...packagesFor(databaseUrl, redisUrl)];
  if (notInstalled(needed).length === 0) return;
  const useful: readonly OptionalPackage[] = logLevel === 'silent' ? ['prom-client'] : ['pino', 'prom-client'];
  requireInstalled('tollhouse serve', [...needed, ...useful]);
}
