import { RpcError } from '../../../../src/solana/rpc/rpc.js';
import { readSendFailure, type SendFailure } from '../../../../src/solana/rpc/send-failure.js';

describe('the error of a first send', () => {
  it.each<[string, unknown, SendFailure]>([
    ['no connection', new RpcError('unreachable', ''), { kind: 'not_sent' }],
    ['a lost connection', new RpcError('unreachable', '', { mayHaveArrived: true }), { kind: 'may_be_sent' }],
    ['a timeout', new RpcError('timeout', '', { mayHaveArrived: true }), { kind: 'may_be_sent' }],
    ['garbage', new RpcError('bad_answer', '', { mayHaveArrived: true }), { kind: 'may_be_sent' }],
    ['a rate limit', new RpcError('rate_limited', '', { mayHaveArrived: true }), { kind: 'may_be_sent' }],
    ['a close before it left', new RpcError('closed', ''), { kind: 'not_sent' }],
    ['a close while it was under way', new RpcError('closed', '', { mayHaveArrived: true }), { kind: 'may_be_sent' }],
    ['invalid parameters', new RpcError('answer', '', { code: -32602 }), { kind: 'refused' }],
    ['a node that lags behind', new RpcError('answer', '', { code: -32005 }), { kind: 'refused' }],
    ['an internal error', new RpcError('answer', '', { code: -32603 }), { kind: 'may_be_sent' }],
    ['an error that nobody knows', new RpcError('answer', '', { code: -32099 }), { kind: 'may_be_sent' }],
    ['a wrong signature', new RpcError('answer', '', { code: -32003 }), { kind: 'refused' }],
    [
      'a failed simulation without its error',
      new RpcError('answer', '', { code: -32002 }),
      { kind: 'rejected', err: undefined, logs: [] },
    ],
    [
      'a failed simulation',
      new RpcError('answer', '', { code: -32002, data: { err: 'BlockhashNotFound', logs: ['a', 5] } }),
      { kind: 'rejected', err: 'BlockhashNotFound', logs: ['a'] },
    ],
    [
      'a failed simulation without logs',
      new RpcError('answer', '', { code: -32002, data: { err: { InstructionError: [0, 'x'] }, logs: null } }),
      { kind: 'rejected', err: { InstructionError: [0, 'x'] }, logs: [] },
    ],
    ['an answer without a code', new RpcError('answer', ''), { kind: 'may_be_sent' }],
    [
      'a refusal that is no simulation, whatever it tells beside',
      new RpcError('answer', '', { code: -32602, data: { err: 'BlockhashNotFound' } }),
      { kind: 'refused' },
    ],
    [
      'a failure that is no answer of a node, whatever it tells beside',
      new RpcError('unreachable', '', { code: -32002, data: { err: 'BlockhashNotFound' } }),
      { kind: 'not_sent' },
    ],
    [
      'a failed simulation whose error is null',
      new RpcError('answer', '', { code: -32002, data: { err: null, logs: [] } }),
      { kind: 'rejected', err: undefined, logs: [] },
    ],
    [
      'a failed simulation whose error is left out',
      new RpcError('answer', '', { code: -32002, data: { logs: [] } }),
      { kind: 'rejected', err: undefined, logs: [] },
    ],
    [
      'a failed simulation after a try in doubt',
      new RpcError('answer', '', { code: -32002, data: { err: 'BlockhashNotFound' }, mayHaveArrived: true }),
      { kind: 'may_be_sent' },
    ],
    [
      'a transaction that has landed before',
      new RpcError('answer', '', { code: -32002, data: { err: 'AlreadyProcessed', logs: [] } }),
      { kind: 'rejected', err: 'AlreadyProcessed', logs: [] },
    ],
    ['a mistake of ours', new TypeError('x'), { kind: 'not_sent' }],
  ])('means, for %s, what it must', (_name, error, expected) => {
    expect(readSendFailure(error)).toEqual(expected);
  });
});
