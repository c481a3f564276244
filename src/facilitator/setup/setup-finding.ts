/** What a check of the set-up can find. Each is also the code of a warning, as `TOLLHOUSE_FEE_PAYER_EMPTY`. */
export type SetupCode =
  /** An RPC endpoint does not answer; a warning where another one does. */
  | 'rpc_unreachable'
  /** One of several RPC endpoints lags behind the others. */
  | 'rpc_behind'
  /** An RPC endpoint belongs to another cluster. */
  | 'wrong_network'
  /** An RPC endpoint does not list inner instructions, which guarded payments of wallets need. */
  | 'no_inner_instructions'
  | 'websocket_unreachable'
  | 'fee_payer_empty'
  /** The fee payer can pay for fewer than a hundred payments more. */
  | 'fee_payer_low'
  /** The fee payer has settled what is not in the books: another service works with it. */
  | 'payments_elsewhere'
  | 'store_unreachable'
  /** The store of payments takes no writes: a full or read-only disk, a standby. */
  | 'store_unwritable'
  /** Its disk has less than 16 MiB left. */
  | 'store_full'
  /** Its file was moved, deleted or replaced while it is open. */
  | 'store_moved'
  | 'answers_unreachable'
  | 'counters_unreachable'
  /** `payTo` is no address, or not that of a wallet. */
  | 'recipient_not_wallet'
  /** `payTo` is the key that pays network fees. */
  | 'recipient_is_fee_payer'
  | 'recipient_account_missing'
  | 'recipient_account_frozen'
  /** The recipient's token account has passed to another wallet. */
  | 'recipient_account_foreign'
  /** The recipient's token account takes only transfers behind a memo, which most wallets do not make. */
  | 'recipient_account_needs_memo'
  /** The price cannot be read. */
  | 'price_unreadable'
  /** There is no token mint at the address. */
  | 'mint_missing'
  /** The token is not what `tokens` says of it. */
  | 'mint_mismatch'
  /** The token has an extension that is not accepted. */
  | 'mint_refused'
  /** Wallets show other amounts of the token than are counted: it has a multiplier, or bears interest. */
  | 'mint_shown_scaled'
  /** Another facilitator does not answer; a warning where another one does. */
  | 'facilitator_unreachable'
  /** Another facilitator answers, and does not settle on the network. */
  | 'facilitator_other_network'
  /** Another facilitator says that it is not well. */
  | 'facilitator_degraded';

/** Something that is wrong with how a facilitator, or what it is to be paid for, is set up. */
export interface SetupFinding {
  readonly code: SetupCode;
  /** `error`: payments are turned away; `warning`: some are, or will be soon. */
  readonly severity: 'error' | 'warning';
  /** What it is about: a wallet, a mint, or the host of an endpoint. */
  readonly about: string;
  /** What is wrong, in a sentence. Names hosts, never the path or the query of an address: they hold keys. */
  readonly detail: string;
  /** The command, or the setting, that mends it. */
  readonly fix: string;
}

/** What a check of the set-up found. */
export interface SetupCheck {
  /** Whether there is no error; warnings may be there. */
  readonly ok: boolean;
  /** Errors first. */
  readonly findings: readonly SetupFinding[];
}

/** Something that keeps payments from being taken. */
export function setupError(finding: Omit<SetupFinding, 'severity'>): SetupFinding {
  return { severity: 'error', ...finding };
}

/** Something that keeps some payments from being taken, or soon will. */
export function setupWarning(finding: Omit<SetupFinding, 'severity'>): SetupFinding {
  return { severity: 'warning', ...finding };
}

/** The response of a check. */
export function setupCheck(found: readonly SetupFinding[]): SetupCheck {
  const errors = found.filter(({ severity }) => severity === 'error');
  const warnings = found.filter(({ severity }) => severity === 'warning');
  return Object.freeze({ ok: errors.length === 0, findings: Object.freeze([...errors, ...warnings]) });
}
