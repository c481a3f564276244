import { allowLostOutput } from './watched-output.js';

/**
 * Resolves at the first SIGINT, SIGTERM or SIGHUP, which a terminal sends that is closed. Another SIGINT or SIGTERM ends the process at
 * once, for whoever does not want to wait for the graceful stop.
 */
export function untilStopped(): Promise<void> {
  allowLostOutput();
  return new Promise((resolve) => {
    let asked = false;
    const stop = () => {
      if (asked) process.exit(130);
      hangUp();
    };
    const hangUp = () => {
      asked = true;
      resolve();
    };
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
    // It is no sign of impatience: the terminal and the shell in it may send one each.
    process.on('SIGHUP', hangUp);
  });
}
