import { fstatSync, writeFileSync } from 'node:fs';
import { lostOutput } from './watched-output.js';

/**
 * Writes to standard output, and resolves when all of it is written.
 * @throws CommandError where it takes no more: its disk is full, or its reader has gone
 */
export async function writeOut(data: string | Uint8Array): Promise<void> {
  try {
    // Node's own stream to a file writes what there is room for, and calls that done.
    if (fstatSync(process.stdout.fd).isFile()) writeFileSync(process.stdout.fd, data);
    else await writeToStream(process.stdout, data);
  } catch (error) {
    throw lostOutput(error);
  }
}

function writeToStream(stream: NodeJS.WriteStream, data: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    // It is told as an event as well, which ends the process where nobody listens.
    stream.once('error', reject);
    stream.write(data, (error) => {
      if (error) return reject(error);
      stream.off('error', reject);
      resolve();
    });
  });
}
