import { withFirst, withLast, withMemo } from '../../helpers/transactions/honest-draft.js';
import { useArena } from '../../helpers/transactions/hostile.js';
import { memo } from '../../helpers/transactions/raw-instructions.js';

const arena = useArena();
const ORDER = 'Bestellung Nº 7 ☂';
const bytes = Buffer.from(ORDER);
const BYTE_ORDER_MARK = Buffer.of(0xef, 0xbb, 0xbf);

const mismatch = 'invalid_exact_svm_payload_memo_mismatch';
const count = 'invalid_exact_svm_payload_memo_count';

test.each([
  ['is another text', Buffer.from('order 8')],
  ['differs in letter case', Buffer.from(ORDER.toLowerCase())],
  ['has a byte order mark before it', Buffer.concat([BYTE_ORDER_MARK, bytes])],
  ['has a space after it', Buffer.from(`${ORDER} `)],
  ['has a zero byte after it', Buffer.concat([bytes, Buffer.of(0)])],
  ['is cut off', bytes.subarray(0, -1)],
  ['is written in other code points that look the same', Buffer.from(ORDER.normalize('NFKD'))],
  [
    'has broken UTF-8 where a reader would see a replacement sign',
    Buffer.concat([bytes.subarray(0, -1), Buffer.of(0xff)]),
  ],
  ['is empty', Buffer.alloc(0)],
])("a memo that %s is not the seller's", (_name, content) =>
  arena().refuses({
    reason: mismatch,
    terms: { memo: ORDER },
    hostile: (honest) => withMemo(honest, memo(content)),
  }),
);

test('without a memo, the seller who asks for one is not paid', () =>
  arena().refuses({ reason: count, terms: { memo: ORDER }, hostile: (honest) => withMemo(honest) }));

test.each([
  ['the same after it', withLast, ORDER],
  ['another one after it', withLast, 'and something else'],
  ['another one before it', withFirst, 'and something else'],
])('two memos are refused where the seller asks for one: %s', (_name, added, text) =>
  arena().refuses({
    reason: count,
    terms: { memo: ORDER },
    hostile: (honest) => added(honest, memo(text)),
    wouldLand: true,
  }),
);

test('where the seller asks for none, two memos are good, and none at all', async () => {
  const terms = arena().terms();
  const { draft } = await arena().honest(terms);
  await arena().pays(withLast(draft, memo('and something else')), terms);
  await arena().pays(withMemo(draft), terms);
});
