import { loadLater } from '../../lib/work/load-later.js';

/** What builds transfers: it brings the whole of @solana/spl-token. */
export const transferBuilder = loadLater(() => import('./transfer-transaction.js'));
