/** One thing that was looked at before going live, and how it is. */
export interface Examined {
  /** What was looked at: a variable, or a part of the service. */
  readonly what: string;
  readonly status: 'ok' | 'warning' | 'error';
  /** How it is, in a sentence without secrets. */
  readonly detail: string;
  /** The command or the setting that mends it; where it is not well. */
  readonly fix?: string;
}

/** It is well. */
export function well(what: string, detail: string): Examined {
  return { what, status: 'ok', detail };
}

/** It works, and is risky or incomplete. */
export function risky(what: string, detail: string, fix: string): Examined {
  return { what, status: 'warning', detail, fix };
}

/** It does not work. */
export function broken(what: string, detail: string, fix: string): Examined {
  return { what, status: 'error', detail, fix };
}
