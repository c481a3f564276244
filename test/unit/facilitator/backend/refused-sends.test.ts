import { createRefusedSends } from '../../../../src/facilitator/backend/refused-sends.js';
import { walletOwner } from '../../../../src/facilitator/backend/wallet-owner.js';
import { createMemoryIdempotencyStore } from '../../../../src/storage/idempotency/memory-idempotency-store.js';

describe('the notes of what nodes have refused', () => {
  test('take the room of the payer whose responses are kept beside them', async () => {
    const store = createMemoryIdempotencyStore({ maxBytes: 40_000 });
    const refused = createRefusedSends(store, () => false);
    const keep = (id: string, wallet: string, bytes: number) => store.put(id, Buffer.alloc(bytes), walletOwner(wallet));
    await keep('of another wallet', 'another', 18_000);
    await keep('of the payer', 'payer', 12_000);
    for (let n = 0; n < 20; n += 1) {
      await refused.note({ id: `${n}`, binding: 'b', payer: 'payer', retryHash: 'r' }, n);
    }
    const kept = await Promise.all(['of another wallet', 'of the payer'].map((id) => store.get(id)));
    expect(kept.map((it) => it !== undefined)).toEqual([true, false]);
  });
});
