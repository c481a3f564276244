import { fstatSync, writeFileSync } from 'node:fs';
import { CommandError } from '../command.js';
import { fileFault } from './system-words.js';

let mayBeLost = false;

/** Of a command that goes on until it is stopped: what reads its output may have had enough of it, and it goes on all the same. */
export function allowLostOutput(): void {
  mayBeLost = true;
}

/**
 * Has whatever is printed on standard output written whole, and told where it takes no more: `console` says nothing of it. A command
 * that has printed into nothing has not done what it was asked.
 * @param report - tells what is wrong, but for a reader that has gone. Called at the end of the process, where that would have ended well
 */
export function watchOutput(report: (error: CommandError) => void): void {
  const { stdout } = process;
  let fault: unknown;
  stdout.on('error', (error) => {
    fault ??= error;
  });
  // Node's own stream to a file writes what there is room for, and calls that done.
  if (fstatSync(stdout.fd).isFile()) {
    stdout._write = (chunk: string | Uint8Array, _encoding, done) => {
      try {
        writeFileSync(stdout.fd, chunk);
        done();
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
      }
    };
  }
  process.once('exit', (code) => {
    if (fault === undefined || mayBeLost || code !== 0) return;
    process.exitCode = 1;
    // Who reads the first lines only (`| head`) wants to see no more of anything.
    if (Reflect.get(Object(fault), 'code') !== 'EPIPE') report(lostOutput(fault));
  });
}

/** The error for standard output that takes no more: its disk is full, or its reader has gone. */
export function lostOutput(error: unknown): CommandError {
  return new CommandError(`standard output takes no more (${fileFault(error)})`);
}
