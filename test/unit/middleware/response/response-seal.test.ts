import { createSeal } from '../../../../src/middleware/response/response-seal.js';

const SECRET = 'b7e23ec2-9af5-4b8e-9d8f-1c1b3f0a7d11';
const ANSWER = {
  statusCode: 201,
  headers: { 'content-type': 'text/plain', 'set-cookie': ['a=1', 'b=2'] },
  body: Buffer.from('readable \u0000'),
};

test('what was sealed is opened by the same secret in the same scope', () => {
  const opened = createSeal('scope', SECRET).open(createSeal('scope', SECRET).seal(ANSWER));
  expect({ ...opened, body: Buffer.from(opened.body) }).toEqual(ANSWER);
});

test.each([
  ['another secret', 'scope', `${SECRET}x`],
  ['another scope', 'other scope', SECRET],
])('%s opens nothing, and has another id and other marks', (_what, scope, secret) => {
  const [one, other] = [createSeal('scope', SECRET), createSeal(scope, secret)];
  expect(() => other.open(one.seal(ANSWER))).toThrow();
  expect([other.id, other.mark('request')]).not.toEqual([one.id, one.mark('request')]);
  expect(one.mark('request')).not.toBe(one.mark('other request'));
});

test('every changed byte is noticed', () => {
  const { seal, open } = createSeal('scope', SECRET);
  const sealed = seal({ ...ANSWER, headers: {} });
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = Uint8Array.from(sealed);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(() => open(changed)).toThrow();
  }
  expect(() => open(sealed.subarray(0, 20))).toThrow();
});

test('what is sealed with more than its secret is found by that alone, and opened by whoever has any of what it is sealed with', () => {
  const sealed = (...keys: readonly string[]) =>
    createSeal('scope', SECRET, { of: (it) => keys.map((key) => `${key} ${it}`) });
  const one = sealed('first');
  expect([one.id, one.mark('request')]).toEqual([
    createSeal('scope', SECRET).id,
    createSeal('scope', SECRET).mark('request'),
  ]);
  expect(sealed('second', 'first').open(one.seal(ANSWER)).statusCode).toBe(201);
  expect(sealed('second', 'first').reveal(one.hide('a text'))).toBe('a text');
  expect(one.hide('a text of words')).not.toMatch(/ |text/);
  for (const other of [sealed('second'), createSeal('scope', SECRET)]) {
    expect(() => other.open(one.seal(ANSWER))).toThrow('cannot be opened here');
    expect(() => other.reveal(one.hide('a text'))).toThrow('cannot be opened here');
  }
});

test('the same answer sealed twice looks different, and shows nothing of the secret or of itself', () => {
  const { seal, id, mark } = createSeal('scope', SECRET);
  const [one, other] = [Buffer.from(seal(ANSWER)), Buffer.from(seal(ANSWER))];
  expect(one.equals(other)).toBe(false);
  for (const text of [one.toString('latin1'), id, mark('text')]) {
    for (const part of [SECRET, 'text/plain', 'readable']) expect(text.includes(part)).toBe(false);
  }
});

test('what another release has sealed and named is opened and found', () => {
  const { id, mark, open } = createSeal('scope', SECRET);
  expect([id, mark('request')]).toEqual([
    'e4da57e0467309250bbd3559ddd3b2519dd19c2f43e25dd1480522fdb25b5e04',
    'a4251cc8e22719c1fd4b080a75153beea0c2b0f08c1f2afcb6baaf5aef257425',
  ]);
  const opened = open(
    Buffer.from(
      'HhkiXkO5OIojWJ9veq6jVkUOUnQZTM4eiDrxLQlph9DvFUxoN/PJvg6NZ1Zw0InG7NN+Pyps4glx9oouWm/mVuY4x52lnIprWVY6HdkxgKhW1kidoRa026sqnW1SciISpWfYG5ycAvtqyZtT4hTjjR7+jL2Js9iFb/d1jqaGVg==',
      'base64',
    ),
  );
  expect({ ...opened, body: Buffer.from(opened.body) }).toEqual(ANSWER);
});
