import { createReferenceHistory } from '../../../../src/facilitator/proofs/reference-history.js';
import type { HistoryEntry } from '../../../../src/solana/rpc/landed-transaction.js';
import { requestOf } from '../../../helpers/request-parts.js';

const PAGE = 1_000;
const request = requestOf();

function entry(at: number, failed = true): HistoryEntry {
  return { signature: `signature ${at}`, slot: at, failed, blockTime: undefined };
}

/** A node with so many transactions that name the reference; the oldest one succeeded, the others as it is said. */
function node(count: number, failed = true) {
  const history = Array.from({ length: count }, (_, index) => entry(count - index, index < count - 1 && failed));
  let calls = 0;
  const rpc = {
    async getHistory(_address: string, before?: string) {
      calls += 1;
      const start = before === undefined ? 0 : history.findIndex(({ signature }) => signature === before) + 1;
      return history.slice(start, start + PAGE);
    },
  };
  return { rpc, history, calls: () => calls };
}

test('a history is read on where the last look stopped, and is whole when its end is reached', async () => {
  const { rpc } = node(120_000);
  const read = createReferenceHistory(rpc);
  const looks = [await read(request), await read(request), await read(request)];
  expect(looks.map(({ isWhole }) => isWhole)).toEqual([false, false, true]);
  expect(looks.map(({ waiting }) => waiting)).toEqual([[], [], ['signature 1']]);
});

test('the oldest wait in front, however late they were read', async () => {
  const { rpc } = node(60_000, false);
  const read = createReferenceHistory(rpc);
  expect((await read(request)).waiting.slice(0, 2)).toEqual(['signature 10001', 'signature 10002']);
  const { waiting, isWhole } = await read(request);
  expect([isWhole, waiting.length, waiting[0], waiting.at(-1)]).toEqual([
    true,
    60_000,
    'signature 1',
    'signature 60000',
  ]);
});

test('what has come since is read, and what is known is not read again', async () => {
  const { rpc, history, calls } = node(2_500);
  const read = createReferenceHistory(rpc);
  const first = await read(request);
  expect(first.isWhole).toBe(true);
  const before = calls();
  history.unshift(entry(2_501, false));
  expect((await read(request)).waiting).toEqual(['signature 1', 'signature 2501']);
  expect(calls() - before).toBe(1);
});
