import { TollhouseError } from '../../errors/errors.js';
import type { SettlementBackend } from '../backend/backend.js';

/**
 * A backend after each of whose outages something is looked at: a fee payer runs dry long after the first payment, and what is out of
 * reach must not be offered.
 */
export function followFailures(backend: SettlementBackend, look: () => void): SettlementBackend {
  const looking = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      if (error instanceof TollhouseError && error.code === 'payment_backend_unavailable') look();
      throw error;
    }
  };
  return {
    ...backend,
    verify: (inspected, purpose) => looking(backend.verify(inspected, purpose)),
    settle: (inspected, step) => looking(backend.settle(inspected, step)),
  };
}
