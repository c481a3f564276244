import { didYouMean } from '../../../src/lib/did-you-mean.js';

const COMMANDS = ['pay', 'serve', 'projects', 'keys', 'list', 'sol'];

test.each([
  ['ayp', 'two wrong of three'],
  ['foo', 'two wrong of three'],
  ['kiss', 'two wrong of four'],
  ['lost keys', 'nothing near'],
  ['x', 'a single letter'],
])('%s means none (%s)', (text) => {
  expect(didYouMean(text, COMMANDS)).toBeUndefined();
});

test.each([
  ['slo', 'sol'],
  ['apy', 'pay'],
  ['pya', 'pay'],
  ['lsit', 'list'],
  ['lis', 'list'],
  ['keyss', 'keys'],
  ['KEYS', 'keys'],
  ['srvee', 'serve'],
  ['porjecst', 'projects'],
  ['proj', 'projects'],
])('%s means %s', (text, meant) => {
  expect(didYouMean(text, COMMANDS)).toBe(meant);
});

test('the nearest of several is meant, and one of which two letters have changed places is as near as one with a wrong letter', () => {
  expect(didYouMean('serev', ['sever', 'serve', 'seven'])).toBe('serve');
  expect(didYouMean('GTE', ['PUT', 'GET'], 1)).toBe('GET');
});

test('no more may be wrong than was said', () => {
  expect(didYouMean('porjecst', COMMANDS, 1)).toBeUndefined();
});
