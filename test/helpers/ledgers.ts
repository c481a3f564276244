import type { Ledger } from '../../src/storage/ledger.js';

/** A ledger with some methods of its own: to watch one, or to let it fail. */
export function ledgerWith(ledger: Ledger, own: Partial<Ledger>): Ledger {
  return new Proxy(ledger, {
    get(target, name) {
      const method: unknown = Reflect.get(own, name) ?? Reflect.get(target, name);
      return typeof method === 'function' ? method.bind(target) : method;
    },
  });
}
