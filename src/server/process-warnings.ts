import { defined } from '../lib/defined.js';
import type { ServerLogger } from './logger.js';

/** The warnings of this process, kept until there is a log. */
export interface ProcessWarnings {
  /** Writes those that came and all that will come to the log, and that the process ends by an error that nobody caught. */
  tell(logger: ServerLogger): void;
  /** Lets Node write them again, those that were kept as well. Called again it does nothing. */
  stop(): void;
}

type Warning = Error & { readonly code?: unknown; readonly detail?: unknown };

/**
 * Takes the warnings of the process, ours, those of packages and of Node, away from standard error. For a program that is the process; a
 * library leaves them to it.
 */
export function takeProcessWarnings(): ProcessWarnings {
  const usual = process.listeners('warning');
  const kept: Warning[] = [];
  let log: ServerLogger | undefined;
  let stopped = false;

  function take(warning: Warning): void {
    if (log === undefined) kept.push(warning);
    else write(log, warning);
  }
  function tellEnd(error: Error): void {
    log?.error({ code: 'TOLLHOUSE_UNCAUGHT', detail: error.stack }, `the process ends: ${error.message}`);
  }

  process.removeAllListeners('warning');
  process.on('warning', take);
  return {
    tell(logger) {
      log = logger;
      process.on('uncaughtExceptionMonitor', tellEnd);
      for (const warning of kept.splice(0)) write(logger, warning);
    },
    stop() {
      if (stopped) return;
      stopped = true;
      process.off('warning', take);
      process.off('uncaughtExceptionMonitor', tellEnd);
      for (const listener of usual) process.on('warning', listener);
      for (const warning of kept.splice(0)) for (const listener of usual) listener(warning);
    },
  };
}

function write(logger: ServerLogger, { name, message, code, detail }: Warning): void {
  const kind = name === 'Warning' ? undefined : name;
  logger.warn(defined({ code, kind, detail }), message);
}
