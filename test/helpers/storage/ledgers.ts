import type { Ledger } from '../../../src/storage/ledger/ledger.js';

/** A ledger as it is to a process that died right after it sent a transaction: nothing that it does arrives any more. */
export function ledgerOfTheDead(ledger: Ledger): Ledger {
  const gone = async (): Promise<never> => {
    throw new Error('this process is dead');
  };
  return ledgerWith(ledger, { recordOutcome: gone, served: gone, forget: gone, keep: gone, extend: gone });
}

/** A ledger with some methods of its own: to watch one, or to let it fail. */
export function ledgerWith(ledger: Ledger, own: Partial<Ledger>): Ledger {
  return new Proxy(ledger, {
    get(target, name) {
      const method: unknown = Reflect.get(own, name) ?? Reflect.get(target, name);
      return typeof method === 'function' ? method.bind(target) : method;
    },
  });
}
