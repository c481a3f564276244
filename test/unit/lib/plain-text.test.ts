import { plain, plainLines } from '../../../src/lib/plain-text.js';

test.each([
  ['ends its line', 'a\nb\r', 'a\ufffdb\ufffd'],
  ['steers a terminal', '\u001b[2Ka', '\ufffd[2Ka'],
  ['turns the order around', 'to \u202ednuoF\u202c and \u2066x\u2069', 'to \ufffddnuoF\ufffd and \ufffdx\ufffd'],
])('a text that %s is shown and not obeyed', (_what, text, shown) => {
  expect(plain(text)).toBe(shown);
});

test('a text in any language is as it was', () => {
  expect(plain('häßlich, שלום, 你好 👍')).toBe('häßlich, שלום, 你好 👍');
});

test('a text of several lines keeps them and its tabs, and steers nothing', () => {
  expect(plainLines('a\r\n\tb\n\u001b]0;owned\u0007\rc')).toBe('a\n\tb\n\ufffd]0;owned\ufffd\ufffdc');
});
