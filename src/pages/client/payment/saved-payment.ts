/** A payment that was signed here, kept until its outcome is known: a reload must not sign another. */
export interface SavedPayment {
  /** Value of the header that carries it. */
  readonly header: string;
  /** Whether the server has said that it is paid. */
  readonly isPaid: boolean;
  /** Name of the offer's turn, see `PageOffer`. */
  readonly turn?: string | undefined;
  /** How often this page was left for what was bought without getting there, as far as is known. */
  readonly entries?: number;
}

const PREFIX = 'tollhouse ';

/** The payment that is kept for a request; undefined where there is none. */
export function savedPayment(key: string): SavedPayment | undefined {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(PREFIX + key) ?? 'null');
    return isSaved(kept) ? kept : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a payment for a request. Where the browser keeps nothing, it lives as long as the page. */
export function savePayment(key: string, payment: SavedPayment): void {
  try {
    sessionStorage.setItem(PREFIX + key, JSON.stringify(payment));
  } catch {
    // The page goes on with what it has.
  }
}

/** Its outcome is known, and it opens nothing any more. */
export function forgetPayment(key: string): void {
  try {
    sessionStorage.removeItem(PREFIX + key);
  } catch {
    // Nothing was kept.
  }
}

function isSaved(value: unknown): value is SavedPayment {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, 'header') === 'string';
}
