/** A call of a node's, whatever came of it. */
export interface RpcCallSeen {
  /** Host and port of the node; never the path or the query, which hold keys. */
  readonly host: string;
  /** Method of JSON-RPC. */
  readonly method: string;
  /** `ok`, or how it failed, as `RpcFailure` has it; `answer` is a node's own refusal. */
  readonly outcome: string;
  readonly seconds: number;
}

/**
 * What became of a request at a gate. `paid`, `pass`, `credit`: it has its price. `free`: it was let in without one. `again`: the
 * response of an earlier one. `uncharged`: nothing was taken, or it was given back. `challenged`: it was told the price. `refused`: by a
 * fault of its own. `failed`: by a fault of ours or of the upstream. `aborted`: its client was gone before the end.
 */
export type GateOutcome =
  | 'paid'
  | 'pass'
  | 'credit'
  | 'free'
  | 'again'
  | 'uncharged'
  | 'challenged'
  | 'refused'
  | 'failed'
  | 'aborted';

/** A request at a gate, at its end: for payment, by wallet, or by service key. */
export interface GateRequestSeen {
  /** Pattern of its route, never its path. */
  readonly route: string;
  /** The project that was called: the slug of one that is listed, the id of any other; empty at gates of an app's own. */
  readonly project: string;
  readonly outcome: GateOutcome;
  /** From the gate to the end of the response. */
  readonly seconds: number;
}

/** A call that was passed on to an upstream. */
export interface UpstreamCallSeen {
  /** As {@link GateRequestSeen} has it. */
  readonly project: string;
  /** How long its response took to begin; missing where none did. */
  readonly seconds?: number | undefined;
  /** How the upstream failed: `unreachable`, `timeout`, `reset`, `answer_too_large`, or `error` for a status from 500 on. Missing where it did not. */
  readonly failure?: string | undefined;
}

/** An attempt at a delivery to a webhook. */
export interface WebhookAttemptSeen {
  /** `retried`: it failed, and there is another attempt. `failed`: there is none any more. */
  readonly outcome: 'delivered' | 'retried' | 'failed';
}

/** What happens too often to be an event, and is counted; by name. */
export interface Observations {
  readonly 'rpc.call': RpcCallSeen;
  readonly 'gate.request': GateRequestSeen;
  readonly 'upstream.call': UpstreamCallSeen;
  readonly 'webhook.attempt': WebhookAttemptSeen;
}

/** Where that is told, to whoever makes figures of it. */
export interface Observed {
  /** Calls a function each time from now on, which must not throw; answers what ends that. */
  watch<Name extends keyof Observations>(name: Name, watcher: (seen: Observations[Name]) => void): () => void;
  /** Whether anybody watches: what nobody does need not be measured. */
  isWatched(name: keyof Observations): boolean;
  tell<Name extends keyof Observations>(name: Name, seen: Observations[Name]): void;
}

type Watchers = { readonly [Name in keyof Observations]: Set<(seen: Observations[Name]) => void> };

/** Makes one that nobody watches yet. */
export function createObserved(): Observed {
  const watchers: Watchers = {
    'rpc.call': new Set(),
    'gate.request': new Set(),
    'upstream.call': new Set(),
    'webhook.attempt': new Set(),
  };
  return {
    watch(name, watcher) {
      watchers[name].add(watcher);
      return () => void watchers[name].delete(watcher);
    },
    isWatched: (name) => watchers[name].size > 0,
    tell(name, seen) {
      for (const watcher of watchers[name]) watcher(seen);
    },
  };
}
