import { allowLostOutput } from './watched-output.js';

/** npm passes a Ctrl-C on to a program that has heard it from the terminal as well, some milliseconds later. */
const SAME_MS = 500;

/**
 * Resolves at the first SIGINT, SIGTERM or SIGHUP, which a terminal sends that is closed. Another SIGINT or SIGTERM, half a second later or
 * more, ends the process at once, for whoever does not want to wait for the graceful stop.
 */
export function untilStopped(): Promise<void> {
  allowLostOutput();
  return new Promise((resolve) => {
    let askedAt = Number.POSITIVE_INFINITY;
    const stop = () => {
      if (performance.now() - askedAt > SAME_MS) process.exit(130);
      hangUp();
    };
    const hangUp = () => {
      askedAt = Math.min(askedAt, performance.now());
      resolve();
    };
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
    // It is no sign of impatience: the terminal and the shell in it may send one each.
    process.on('SIGHUP', hangUp);
  });
}
