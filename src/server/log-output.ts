import { writeSync } from 'node:fs';

/** Where a log is written; a stream is one. */
export interface LogTarget {
  write(line: string): unknown;
}

const MOST_WAITING = 1024 * 1024;
const RETRY_MS = 100;
const LAST_TRIES = 5;
const NEWLINE = 0x0a;
const NOTHING = Buffer.alloc(0);

/**
 * Lines on their way to a file, a pipe or a terminal, which never hold up whoever writes them. A pipe whose reader stands still has lines
 * wait, 1 MiB of them, beyond which they are lost; a disk that is full, or a reader that has gone, loses them at once. It is tried again
 * with each line.
 */
export class LogOutput implements LogTarget {
  /** Told how many lines were lost, and the code of the last error, as soon as something can be written again. */
  onLost: (lines: number, code: string) => void = () => {};
  readonly #fd: number;
  #lines: string[] = [];
  #length = 0;
  #batch: Buffer = NOTHING;
  #lineIsCut = false;
  #lost = 0;
  /** Of the lines that were lost, those that a line says which is on its way itself. */
  #beingTold = 0;
  #lastCode = '';
  #wakes = false;

  /** @param fd - an open file; a pipe or a socket has to be non-blocking */
  constructor(fd: number) {
    this.#fd = fd;
  }

  write(line: string): void {
    if (this.#length + line.length > MOST_WAITING) {
      this.#lost += 1;
      return;
    }
    this.#lines.push(line);
    this.#length += line.length;
    if (this.#wakes) return;
    this.#wakes = true;
    setImmediate(() => this.#wake());
  }

  /** Writes what waits; whether all of it could be written, or is lost. */
  flush(): boolean {
    while (this.#batch.length > 0 || this.#lines.length > 0) {
      if (this.#batch.length === 0) this.#gather();
      if (!this.#writeBatch()) return this.#batch.length === 0;
      if (this.#batch.length === 0) this.#tellLost();
    }
    return true;
  }

  #wake(): void {
    this.#wakes = !this.flush();
    if (this.#wakes) setTimeout(() => this.#wake(), RETRY_MS).unref();
  }

  #gather(): void {
    this.#batch = Buffer.from(`${this.#lineIsCut ? '\n' : ''}${this.#lines.join('')}`);
    this.#lines = [];
    this.#length = 0;
  }

  #writeBatch(): boolean {
    try {
      const written = writeSync(this.#fd, this.#batch);
      this.#lineIsCut = this.#batch[written - 1] !== NEWLINE;
      this.#batch = this.#batch.subarray(written);
      return true;
    } catch (error) {
      this.#lastCode = String(Reflect.get(Object(error), 'code'));
      if (this.#lastCode !== 'EAGAIN') this.#loseBatch();
      return false;
    }
  }

  #loseBatch(): void {
    const ends = this.#batch.reduce((count, byte) => count + Number(byte === NEWLINE), 0);
    // One at the beginning ends a line that was written, or was counted before.
    this.#lost += ends - Number(this.#batch[0] === NEWLINE) + this.#beingTold;
    this.#beingTold = 0;
    this.#batch = NOTHING;
  }

  #tellLost(): void {
    this.#beingTold = this.#lost;
    this.#lost = 0;
    if (this.#beingTold > 0) this.onLost(this.#beingTold, this.#lastCode);
  }
}

let standardOutput: LogOutput | undefined;

/** Standard output, one for all logs of the process: no line comes into the middle of another. */
export function standardLogOutput(): LogOutput {
  standardOutput ??= endingWithProcess(new LogOutput(1));
  return standardOutput;
}

/** A reader that is slow has half a second for the last lines. */
function endingWithProcess(output: LogOutput): LogOutput {
  // A pipe becomes non-blocking when Node makes its own stream of it.
  void process.stdout.writable;
  process.on('exit', () => {
    const clock = new Int32Array(new SharedArrayBuffer(4));
    for (let tries = 0; !output.flush() && tries < LAST_TRIES; tries += 1) Atomics.wait(clock, 0, 0, RETRY_MS);
  });
  return output;
}
