import type { SqlDatabase, Statement } from '../../../src/storage/sql/sql-database.js';

/** What the books know of one payment. */
export interface BookedEntry {
  readonly id: string;
  readonly payer: string;
  readonly state: string;
  /** How many events tell that it was settled. */
  readonly settledEvents: number;
}

/** Payments, and events without one as payments in state `missing`. */
const BOOKS: Statement = {
  name: 'test_books',
  text: 'select id, payer, state from tollhouse_payment',
};
const SETTLED: Statement = {
  name: 'test_settled',
  text: "select data from tollhouse_event where type = 'payment.settled'",
};

/** Reads all payments of a database, and the events that tell of them. */
export async function readBooks(database: SqlDatabase): Promise<readonly BookedEntry[]> {
  const [payments, events] = [await database.query(BOOKS), await database.query(SETTLED)];
  const ids = events.map(({ data }) => (JSON.parse(String(data)) as { payment_id: string }).payment_id);
  const counts = new Map<string, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  const count = (id: string): number => counts.get(id) ?? 0;
  const known = new Set(payments.map(({ id }) => String(id)));
  const strays = ids.filter((id) => !known.has(id));
  return [
    ...payments.map(({ id, payer, state }) => ({
      id: String(id),
      payer: String(payer),
      state: String(state),
      settledEvents: count(String(id)),
    })),
    ...strays.map((id) => ({ id, payer: '', state: 'missing', settledEvents: 1 })),
  ];
}

/** Payments that the events tell otherwise than the books: each that has landed has one event, and no other has any. */
export function mistold(entries: readonly BookedEntry[]): readonly BookedEntry[] {
  return entries.filter(({ state, settledEvents }) => {
    const hasLanded = state === 'confirmed' || state === 'served';
    return settledEvents !== (hasLanded ? 1 : 0);
  });
}
