import { connectionFailure } from '../../../../src/solana/rpc/connection-failure.js';

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['null', null],
  ['a text', 'ECONNREFUSED'],
  ['a number', 5],
  ['an error without a code', new Error('x')],
  ['a code that is a number', { code: 5 }],
  ['no attempts and no cause', { errors: [] }],
])('%s leaves the question open whether the request has arrived', (_name, error) => {
  expect(connectionFailure(error)).toEqual({ code: 'unknown', mayHaveArrived: true });
});

test.each<[string, unknown]>([
  ['itself', { code: 'ENOTFOUND', cause: { code: 'ECONNRESET' } }],
  ['its cause', new Error('x', { cause: { code: 'ENOTFOUND' } })],
  ["its cause's cause", { cause: { cause: { code: 'ENOTFOUND' } } }],
  ['its cause when its own code is a number', { code: 7, cause: { code: 'ENOTFOUND' } }],
  ['the first of its attempts', { errors: [{ code: 'ENOTFOUND' }, { code: 'ECONNRESET' }], cause: { code: 'X' } }],
  ['its only attempt', { errors: [{ code: 'ENOTFOUND' }], cause: { code: 'X' } }],
  ['its cause when there were no attempts', { errors: [], cause: { code: 'ENOTFOUND' } }],
  [
    'its cause when the attempts are no list',
    { errors: { length: 1, 0: { code: 'X' } }, cause: { code: 'ENOTFOUND' } },
  ],
])('the code of an error is that of %s', (_name, error) => {
  expect(connectionFailure(error)).toEqual({ code: 'ENOTFOUND', mayHaveArrived: false });
});

test.each([
  'ECONNREFUSED',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
])('%s proves that nothing was sent', (code) => {
  expect(connectionFailure({ code })).toEqual({ code, mayHaveArrived: false });
});

test.each(['read', 'write'])('what breaks a %s proves nothing, whatever its code', (syscall) => {
  expect(connectionFailure({ code: 'EHOSTUNREACH', syscall })).toEqual({ code: 'EHOSTUNREACH', mayHaveArrived: true });
  expect(connectionFailure({ code: 'EHOSTUNREACH', syscall: 'connect' }).mayHaveArrived).toBe(false);
});

test.each(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_HEADERS_TIMEOUT'])('%s proves nothing', (code) => {
  expect(connectionFailure({ code })).toEqual({ code, mayHaveArrived: true });
});
