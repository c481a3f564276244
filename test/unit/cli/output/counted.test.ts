import { counted } from '../../../../src/cli/output/counted.js';

test.each([
  [0, '0 differences'],
  [1, '1 difference'],
  [2, '2 differences'],
])('%i of what is counted is written as "%s"', (count, text) => {
  expect(counted(count, 'difference')).toBe(text);
});
