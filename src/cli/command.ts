/** One subcommand of the command line. */
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
