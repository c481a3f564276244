import { createGivenUp } from '../sql/given-up.js';
import type { Ledger } from './ledger.js';

/**
 * A ledger whose payments are nobody's as soon as it answers again that were claimed, or given back, while its database was lost: no
 * lease has to run out for them.
 */
export function freeingGivenUp<L extends Ledger>(ledger: L): L {
  const { taking, ending } = createGivenUp();
  const keeping = (id: string, lease: string) => () => ledger.keep(id, lease);
  const letGo = (verb: Ledger['keep']) => (id: string, lease: string) => ending({ id, lease }, () => verb(id, lease));
  return {
    ...ledger,
    claim: (request) => taking(request, () => ledger.claim(request), keeping(request.id, request.lease)),
    claimLanded: (request, landed) =>
      taking(request, () => ledger.claimLanded(request, landed), keeping(request.id, request.lease)),
    forget: letGo(ledger.forget),
    keep: letGo(ledger.keep),
  };
}
