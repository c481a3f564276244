import { createGivenUp } from '../sql/given-up.js';
import type { IdempotencyStore } from './idempotency-store.js';

/** A store whose runs do not count as running any more that have begun, or ended, while its database was lost. */
export function endingGivenUp<S extends IdempotencyStore>(store: S): S {
  const { taking, ending, endOf } = createGivenUp();
  const letGo = (verb: S['release']) => (id: string, lease: string) => ending({ id, lease }, () => verb(id, lease));
  return {
    ...store,
    async find(id, fingerprint) {
      await endOf(id);
      return store.find(id, fingerprint);
    },
    begin: (run) =>
      taking(
        run,
        () => store.begin(run),
        () => store.abandon(run.id, run.lease),
      ),
    finish: (id, lease, answer, paidBy) =>
      ending(
        { id, lease },
        () => store.finish(id, lease, answer, paidBy),
        () => store.release(id, lease),
      ),
    release: letGo(store.release),
    abandon: letGo(store.abandon),
  };
}
