import { loadLater } from '../../lib/work/load-later.js';

/** What reads the chain's past: most of what is paid is seen to land. */
export const landedReaders = loadLater(() => import('./landed-transaction.js'));
