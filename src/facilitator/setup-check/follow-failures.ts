import { TollhouseError } from '../../errors/errors.js';
import type { SettlementBackend } from '../backend/backend.js';
import type { SetupWatch } from '../setup/setup-watch.js';

/** A backend after each of whose outages the set-up is looked at: a fee payer runs dry long after the first payment. */
export function followFailures(backend: SettlementBackend, watch: Pick<SetupWatch, 'again'>): SettlementBackend {
  const looking = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      if (error instanceof TollhouseError && error.code === 'payment_backend_unavailable') watch.again();
      throw error;
    }
  };
  return {
    ...backend,
    verify: (inspected, purpose) => looking(backend.verify(inspected, purpose)),
    settle: (inspected, step) => looking(backend.settle(inspected, step)),
  };
}
