import { allowLostOutput } from './watched-output.js';

/**
 * Resolves at the first SIGINT or SIGTERM. A second one ends the process at once, for whoever does not want to wait for the
 * graceful stop.
 */
export function untilStopped(): Promise<void> {
  allowLostOutput();
  return new Promise((resolve) => {
    let asked = false;
    const stop = () => {
      if (asked) process.exit(130);
      asked = true;
      resolve();
    };
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
  });
}
