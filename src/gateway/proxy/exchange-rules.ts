/** Why an upstream's response did not reach the caller. */
export type ExchangeFailure =
  /** No connection: wrong name, closed port, TLS, an address that may not be called. */
  | 'upstream_unreachable'
  /** Nothing came for too long, before the head or within the body. */
  | 'upstream_timeout'
  /** This process ends, and does not wait for it any longer. */
  | 'stopping'
  /** The connection broke, or what came is not HTTP. */
  | 'upstream_reset'
  /** More than is passed on. */
  | 'upstream_answer_too_large'
  /** The caller's body is more than is taken. */
  | 'body_too_large'
  /** The caller closed the connection, or stopped to read, or read or sent so slowly that the upstream broke off. */
  | 'client_gone';

/** How an exchange ended. */
export type ExchangeEnd<Failure extends string = ExchangeFailure> =
  | { readonly delivered: true; readonly status: number }
  | {
      readonly delivered: false;
      readonly reason: Failure;
      /** Status of the upstream, where it answered. */
      readonly status?: number;
      /** Whether anything of a response had come. */
      readonly isAnswered?: boolean;
      /** What went wrong underneath, for a log; it may name the upstream's host. */
      readonly cause?: unknown;
    };

/** Headers that the caller of a hook puts on a response; their names replace those of the upstream. */
export type ExtraHeaders = Readonly<Record<string, string>>;

/** Bounds of an exchange, and what is done within. */
export interface ExchangeRules {
  /** Milliseconds from the last byte of the request that moved until the head of the response. */
  readonly headTimeoutMs: number;
  /** Milliseconds that the response's body may stand still. */
  readonly idleTimeoutMs: number;
  /** Whether the request has a body, of which the upstream may have left something unread. Default: it has none. */
  readonly hasBody?: boolean;
  /** Whether the upstream has all of the request that has come, and more is to come. Default: it has all of it. */
  readonly isBodyDue?: (() => boolean) | undefined;
  /** Bytes of the response's body. */
  readonly maxResponseBytes: number;
  /** What a caller reaches a place that the upstream names at. */
  readonly toPublic: (location: string) => string;
  /** Tells values that the caller must not see. Default: there are none. */
  readonly isHidden?: ((value: string) => boolean) | undefined;
  /** Asked right before the head is written; the body waits as long. */
  readonly beforeHead?: ((status: number) => ExtraHeaders | Promise<ExtraHeaders>) | undefined;
  /**
   * Asked when the response is here whole, before its last bytes leave. They wait for it for some seconds, whether it resolves or
   * rejects; undefined: they do not wait.
   */
  readonly beforeEnd?: ((status: number) => Promise<void> | undefined) | undefined;
  /**
   * Whether the upstream's response is taken on though the caller has left: others keep it. Asked when he has left, and with whatever
   * comes after that; it has as long from then as its head and a silence of it may last together. Default: it is not.
   */
  readonly outlivesCaller?: (() => boolean) | undefined;
  /** Told when the upstream breaks off after its head has left, before the caller's connection is cut; it is waited for. */
  readonly beforeCut?: ((status: number, reason: ExchangeFailure) => Promise<void>) | undefined;
}
