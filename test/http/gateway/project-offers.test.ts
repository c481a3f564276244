import { useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';

const PACK = { amount: '0.50', token: 'USDC', pass: { uses: 100, for: '30d' } };
const CREDIT = { amount: '5', token: 'USDT', pass: { credit: true, cost: '0.004', group: 'weather' } };

describe('the offers of a project', () => {
  const fixture = useGatewayFixture();
  let made = 0;

  const ask = (method: string, path: string, body?: unknown, headers = {}) =>
    fixture().client.ask(method, path, body, { ...fixture().asOwner, ...headers });
  const create = (pricing: object, more: object = {}) => {
    made += 1;
    const upstream = { url: fixture().upstream.origin };
    return ask('POST', '/api/v1/projects', { slug: `offers-${made}`, name: 'Offers', upstream, pricing, ...more });
  };

  test('are shown in their order behind the price of one call, in fields and in words', async () => {
    const { status, body } = await create({ amount: '0.01', token: 'USDC', offers: [PACK, CREDIT] });
    expect(status).toBe(201);
    expect(body['pricing']).toMatchObject({
      ...{ amount: '0.01', amount_atomic: '10000', token: 'USDC', buys: '1 request', pass: null },
      offers: [
        {
          ...{ amount: '0.5', amount_atomic: '500000', token: 'USDC', buys: '100 requests within 30 days' },
          pass: { uses: 100, for: '30d', credit: false, cost: null, cost_atomic: null, group: null },
        },
        {
          ...{
            amount: '5',
            token: 'USDT',
            buys: '5 USDT of credit for anything of "weather", at most 0.004 USDT a request',
          },
          pass: { uses: null, for: null, credit: true, cost: '0.004', cost_atomic: '4000', group: 'weather' },
        },
      ],
    });
  });

  test('stand alone where single calls are not sold, and then no payment request can be made', async () => {
    const { body } = await create({ offers: [PACK] });
    expect(body['pricing']).toMatchObject({ amount: '0.5', buys: '100 requests within 30 days', offers: [] });
    const asked = {
      amount: '0.5',
      token: 'USDC',
      recipient: fixture().owner.publicKey.toBase58(),
      project: body['slug'],
    };
    const created = await fixture().client.ask('POST', '/create-payment', asked, fixture().key.headers);
    expect([created.status, created.body['code']]).toEqual([400, 'invalid_amount']);
    expect(created.body['detail']).toContain('sells no single calls');
    const unpaid = await fixture().client.call(String(body['slug']), { headers: fixture().key.headers });
    expect(unpaid.body['detail']).toBe(
      'This call has a price. Pay one of the offered terms, through x402. Offered are 0.5 USDC for 100 requests within 30 days.',
    );
  });

  test('are listed in the marketplace in words', async () => {
    const { body } = await create({ offers: [PACK] }, { visibility: 'listed' });
    const shown = await fixture().client.ask('GET', `/api/v1/marketplace/${body['slug']}`);
    expect(shown.body['pricing']).toMatchObject({ buys: '100 requests within 30 days', pass: { uses: 100 } });
  });

  test('are changed like prices: by their owner, at the version that he has seen, all or nothing', async () => {
    const { body, headers } = await create({ amount: '0.01', token: 'USDC', offers: [PACK] });
    const path = `/api/v1/projects/${body['id']}`;
    const match = { 'if-match': headers.get('etag') ?? '' };
    const changed = await ask('PATCH', path, { pricing: { offers: [CREDIT, PACK] } }, match);
    expect(changed.body).toMatchObject({
      version: 2,
      pricing: { amount: '0.01', offers: [{ amount: '5' }, { amount: '0.5' }] },
    });
    const late = await ask('PATCH', path, { pricing: { offers: [] } }, match);
    expect([late.status, late.body['code']]).toEqual([412, 'precondition_failed']);
    const same = await ask('PATCH', path, { name: 'Other' });
    expect(same.body).toMatchObject({ version: 3, pricing: { offers: [{ amount: '5' }, { amount: '0.5' }] } });
    const alone = await ask('PATCH', path, { pricing: { amount: null, token: null } });
    expect(alone.body['pricing']).toMatchObject({ amount: '5', token: 'USDT', offers: [{ amount: '0.5' }] });
    expect(alone.text).not.toContain('former');
  });

  test.each([
    [{}, '/pricing/amount', /must be given with a token, where there are no offers/],
    [{ amount: '1' }, '/pricing/token', /must be given with an amount/],
    [
      { amount: '1', token: 'USDC', charge_on: [200] },
      '/pricing/charge_on/0',
      /^must be "4xx", "5xx" or a status from 400 to 599$/,
    ],
    [{ offers: [{ ...PACK, pass: {} }] }, '/pricing/offers/0/pass', /uses, for, or both, or with credit/],
    [{ offers: [{ ...PACK, pass: { uses: 5, credit: true, cost: '1' } }] }, '/pricing/offers/0/pass', /not both/],
    [{ offers: [{ ...PACK, pass: { for: '3 days' } }] }, '/pricing/offers/0/pass/for', /a time such as/],
    [{ offers: [{ ...PACK, pass: { uses: 5, group: 'a b' } }] }, '/pricing/offers/0/pass/group', /a name of 1 to 64/],
    [{ offers: [{ ...PACK, pass: { credit: true } }] }, '/pricing/offers/0/pass', /cost beside credit/],
    [
      { offers: [{ ...PACK, pass: { credit: true, cost: '0.0000001' } }] },
      '/pricing/offers/0/pass/cost',
      /more decimal/,
    ],
    [{ offers: [PACK, { ...PACK, amount: '0' }] }, '/pricing/offers/1/amount', /more than zero/],
    [{ offers: [PACK, { ...PACK, token: 'NOPE' }] }, '/pricing/offers/1/token', /NOPE/],
    [{ offers: [PACK, PACK] }, '/pricing/offers', /price 2 is the same as one before it/],
    [{ offers: [{ ...CREDIT, amount: '0.001' }] }, '/pricing/offers', /is more than its price/],
    [{ offers: [{ ...PACK, pass: { uses: 0 } }] }, '/pricing/offers/0/pass/uses', /1 to 1,000,000,000/],
    [{ offers: [{ ...PACK, pass: { uses: 5, cookie: true } }] }, '/pricing/offers/0/pass/cookie', /no field/],
    [{ offers: Array(11).fill(PACK) }, '/pricing/offers', /at most 10 offers/],
  ])('%j are refused', async (pricing, pointer, detail) => {
    const { status, body } = await create(pricing);
    expect([status, body['code']]).toEqual([422, 'validation_failed']);
    const errors = body['errors'] as readonly { readonly pointer: string; readonly detail: string }[];
    expect(errors).toContainEqual(expect.objectContaining({ pointer, detail: expect.stringMatching(detail) }));
  });

  test('leave no recipient of a split with nothing', async () => {
    const [owner, partner] = [fixture().owner, fixture().partner].map((it) => it.publicKey.toBase58());
    const split = [
      { recipient: owner, bps: 9_999 },
      { recipient: partner, bps: 1 },
    ];
    const tiny = { amount: '0.000001', token: 'USDC', pass: { uses: 1 } };
    const { body } = await create({ amount: '0.01', token: 'USDC', offers: [tiny] }, { split });
    expect(body['errors']).toContainEqual(expect.objectContaining({ pointer: '/split' }));
  });
});
