import { outcomeEvent, requestEvent } from '../../../../src/facilitator/events/event-records.js';
import { createPaymentEventBus } from '../../../../src/facilitator/events/events.js';
import { NOW, requestOf } from '../../../helpers/request-parts.js';
import { walletKey } from '../../../helpers/transactions/wallet-key.js';

const request = requestOf();
const { network, token, payTo, reference } = request;
const [payer, owner] = ['payer', 'owner'].map((name) => walletKey(name).address) as [string, string];
const terms = { scheme: 'exact', network, asset: token.mint, amount: 5n, payTo, maxTimeoutSeconds: 60 } as const;
const receipt = { signature: 's', network, payer, payTo, asset: token.mint, amount: 5n, slot: 7 };
const told = { id: 'payment 1', resource: 'GET /report' };
const money = { network, asset: token.mint, amount_atomic: '5', pay_to: payTo };
const payment = { payment_id: 'payment 1', resource: 'GET /report', payer, ...money };
const id = expect.stringMatching(/^evt_./);

describe('what is kept of an event', () => {
  test('a payment that landed', () => {
    const settled = { ...payment, tx_signature: 's', slot: 7 };
    expect(outcomeEvent('payment.settled', { ...told, receipt }, { terms }, NOW)).toStrictEqual({
      id,
      at: NOW,
      type: 'payment.settled',
      owner: payTo,
      data: settled,
    });
    const timed = outcomeEvent('payment.settled', { ...told, receipt, durationMs: 41.6 }, { terms }, NOW);
    expect(timed.data).toStrictEqual({ ...settled, duration_ms: 42 });
  });

  test('a payment that failed, and why', () => {
    const reason = 'insufficient_funds' as const;
    const event = outcomeEvent('payment.failed', { ...told, payer, terms, reason }, { terms }, NOW);
    expect(event).toStrictEqual({ id, at: NOW, type: 'payment.failed', owner: payTo, data: { ...payment, reason } });
  });

  test('a payment that expired, of a project: it belongs to the owner of that', () => {
    const event = outcomeEvent('payment.expired', { ...told, payer, terms }, { owner, projectId: 'p', terms }, NOW);
    expect(event).toStrictEqual({ id, at: NOW, type: 'payment.expired', owner, projectId: 'p', data: payment });
  });

  test('that a payment was asked for, with what was asked for and no more', () => {
    const data = {
      payment_id: 'pay_1',
      token: 'SOL',
      amount: '0.000000005',
      ...money,
      split: [{ recipient: payTo, amount_atomic: '5' }],
      reference,
      expires_at: new Date(NOW + 120_000).toISOString(),
    };
    const event = { id, at: NOW, type: 'payment.created' };
    expect(requestEvent(request)).toStrictEqual({ ...event, owner: payTo, data });
    const more = { payer, memo: 'order 7', metadata: { order: '7' } };
    expect(requestEvent({ ...request, ...more, owner, projectId: 'p' })).toStrictEqual({
      ...event,
      owner,
      projectId: 'p',
      data: { ...data, ...more },
    });
  });
});

describe('listeners', () => {
  test('one that throws is warned of, and the others are told', () => {
    const warnings: unknown[] = [];
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation((...args) => void warnings.push(args));
    const bus = createPaymentEventBus();
    const heard: unknown[] = [];
    bus.on('payment.created', () => {
      throw new Error('bug');
    });
    bus.on('payment.created', (event) => heard.push(event));
    bus.emit('payment.created', { request });
    warn.mockRestore();
    expect(heard).toEqual([{ request }]);
    const text = 'a listener of "payment.created" threw: Error: bug';
    expect(warnings).toEqual([[text, { code: 'TOLLHOUSE_LISTENER' }]]);
  });

  test('one that was ended hears no more', () => {
    const bus = createPaymentEventBus();
    const heard: unknown[] = [];
    const end = bus.on('payment.created', (event) => heard.push(event));
    end();
    bus.emit('payment.created', { request });
    expect(heard).toEqual([]);
  });
});
