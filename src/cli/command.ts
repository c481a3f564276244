/** What `tollhouse` is told to do by its first word: `pay`, `projects`. Some have subcommands (`sub-command.ts`). */
export interface Command {
  /** What `--help` shows. */
  readonly help: string;
  /** Runs it; answers the exit code. Mistakes of the user are thrown as {@link UsageError}. */
  run(args: readonly string[]): Promise<number>;
}

/** The user typed something that cannot be done; shown without a stack, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Something could not be done; shown without a stack, exit code 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** A signal has stopped what was done; shown as what has come of it, exit code 128 and the number of the signal. */
export class StoppedError extends Error {
  override readonly name = 'StoppedError';

  constructor(
    readonly exitCode: number,
    /** What it has ended with. */
    override readonly cause: unknown,
  ) {
    super('stopped');
  }
}

/** The system refused something: a file, an address to listen on. The code is the system's, such as `EADDRINUSE`. */
export class SystemError extends CommandError {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** A server refused; the message holds its code and detail. */
export class RefusedError extends CommandError {
  readonly retryable: boolean | undefined;
  readonly waitMs: number;
  readonly fields: readonly string[];

  constructor(
    readonly status: number,
    /** Code of the problem; undefined when the server named none. */
    readonly code: string | undefined,
    message: string,
    { retryable, waitMs = 0, fields = [] }: RefusalFacts = {},
  ) {
    super(message);
    this.retryable = retryable;
    this.waitMs = waitMs;
    this.fields = fields;
  }
}

/** What a server tells beside the sentence with which it refuses. */
interface RefusalFacts {
  /** Whether the same request may bring something else later; undefined when the server does not tell. */
  readonly retryable?: boolean | undefined;
  /** How long the server asks to wait before that, in milliseconds. Default 0. */
  readonly waitMs?: number;
  /** JSON pointers of the fields that are at fault. Default: none. */
  readonly fields?: readonly string[];
}
