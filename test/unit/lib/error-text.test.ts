import { wholeError } from '../../../src/lib/error-text.js';

describe('the whole text of an error', () => {
  test('has what lay underneath, and says nothing twice', () => {
    const root = new Error('too many connections for role "shop"');
    const said = new Error(`cannot connect (${root.message})`, { cause: root });

    expect(wholeError(new Error('The database does not answer', { cause: root }))).toBe(
      'The database does not answer (too many connections for role "shop")',
    );
    expect(wholeError(said)).toBe(said.message);
    expect(wholeError('a text')).toBe('a text');
  });

  test('names the code of what has no text of its own', () => {
    const everywhere = Object.assign(new AggregateError([new Error('::1'), new Error('127.0.0.1')]), {
      code: 'ECONNREFUSED',
    });
    expect(wholeError(new Error('The database does not answer', { cause: everywhere }))).toBe(
      'The database does not answer (ECONNREFUSED)',
    );
  });

  test('comes to an end where causes go round in a circle', () => {
    const [one, other] = [new Error('one'), new Error('other')];
    Object.assign(one, { cause: other });
    Object.assign(other, { cause: one });
    expect(wholeError(one)).toMatch(/^one \(other \(one \(/);
  });
});
