import type { Express } from 'express';
import type { Facilitator } from '../../../src/facilitator/types.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import type { Offer } from '../../../src/middleware/terms/pass-option.js';
import type { Offers } from '../../../src/middleware/terms/payment-options.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { signingFetch } from '../../helpers/http/official-clients.js';
import { passAnswer } from '../../helpers/http/passes.js';
import { signPayment } from '../../helpers/transactions/payments.js';

const group = 'all';
const USES: Offer = { price: '$0.01', pass: { uses: 100, group } };
const CREDIT: Offer = { price: '$1', pass: { credit: true, cost: '$0.40', group } };
const TIME: Offer = { price: '$0.02', pass: { for: '1h', group } };

let fixture: TollFixture;

beforeAll(async () => {
  fixture = await openTollFixture();
});
afterAll(() => fixture.close());

/** Instances of a shop on one storage: what one of them sells, the others do not know of. */
async function shops() {
  const storage = await openStorage('memory:');
  const on = (routes: Readonly<Record<string, Offers>>) => sell(fixture.facilitatorWith({ storage }), routes);
  return {
    cheap: await on({ '/cheap': [USES, TIME], '/other': [USES] }),
    dear: await on({ '/dear': [CREDIT], '/timed': [TIME] }),
    mixed: await on({ '/mixed': [CREDIT, { ...USES, price: '$20' }] }),
  };
}

function sell(facilitator: Facilitator, routes: Readonly<Record<string, Offers>>): Promise<string> {
  return fixture.serve((app: Express) => {
    for (const [path, price] of Object.entries(routes)) {
      const gate = requirePayment({ facilitator, payTo: fixture.payTo, price });
      app.get(path, gate, (_req, res) => void res.send(path));
    }
  });
}

async function buy(url: string, choice = 0) {
  const { v2 } = await signPayment(fixture, url, { choice });
  const paid = await fetch(url, { headers: v2 });
  expect(paid.status).toBe(200);
  return { 'access-pass': paid.headers.get('access-pass') ?? '' };
}

const get = async (url: string, headers: Readonly<Record<string, string>>) => passAnswer(await fetch(url, { headers }));

describe('a pass of a group', () => {
  test('that counts uses does not cover a gate which takes credit at what each request costs', async () => {
    const { cheap, dear, mixed } = await shops();
    const token = await buy(`${cheap}/cheap`);
    expect(await get(`${dear}/dear`, token)).toEqual({ status: 402, left: null, code: 'pass_of_another_route' });
    expect(await get(`${cheap}/other`, token)).toEqual({ status: 200, left: '98' });
    expect(await get(`${dear}/timed`, token)).toEqual({ status: 200, left: '97' });
    expect(await get(`${mixed}/mixed`, token)).toEqual({ status: 200, left: '96' });
  });

  test('that counts uses is not spent there by the sign-in of its wallet either, which pays', async () => {
    const { cheap, dear } = await shops();
    const wallet = await fixture.sandbox.createWallet({ usdc: '5' });
    const official = await signingFetch({ wallet, rpcUrl: fixture.sandbox.rpcUrl });
    expect((await official(`${cheap}/cheap`)).headers.get('access-pass-remaining')).toBe('99');
    expect((await official(`${dear}/dear`)).headers.get('access-pass-remaining')).toBe('0.6 USDC');
    expect((await official(`${dear}/dear`)).headers.get('access-pass-remaining')).toBe('0.2 USDC');
  });

  test('that is credit covers what has a cost in it, and one for a time covers all', async () => {
    const { cheap, dear, mixed } = await shops();
    const credit = await buy(`${dear}/dear`);
    expect(await get(`${mixed}/mixed`, credit)).toEqual({ status: 200, left: '0.2 USDC' });
    expect(await get(`${cheap}/other`, credit)).toMatchObject({ status: 402, code: 'pass_of_another_token' });
    const time = await buy(`${cheap}/cheap`, 1);
    for (const url of [`${dear}/dear`, `${mixed}/mixed`, `${cheap}/other`])
      expect((await get(url, time)).status).toBe(200);
  });
});

describe('gates of one group', () => {
  const gate = (facilitator: Facilitator, price: Offers, more: object = {}) =>
    requirePayment({ facilitator, payTo: fixture.payTo, price, ...more });
  const mixed = expect.objectContaining({
    code: 'bad_option',
    message: expect.stringMatching(/group "all" sells uses, and another one takes credit alone.*different groups/),
  });

  test.each([
    ['credit after uses', [[USES], [CREDIT]]],
    ['uses after credit', [[CREDIT], [USES]]],
    ['credit and a time after uses', [[USES], [CREDIT, TIME]]],
    ['credit after both', [[USES, CREDIT], [CREDIT]]],
  ])('that sell uses here and take credit alone there are refused: %s', (_what, [first = [], second = []]) => {
    const facilitator = fixture.facilitatorWith({});
    gate(facilitator, first);
    expect(() => gate(facilitator, second)).toThrow(mixed);
    expect(() => gate(facilitator, second, { baseUrl: 'https://other.example' })).not.toThrow();
    expect(() => gate(fixture.facilitatorWith({}), second)).not.toThrow();
  });

  test.each([
    [
      'both at each of them',
      [
        [USES, CREDIT],
        [CREDIT, USES],
      ],
    ],
    ['uses, and both', [[USES], [USES, CREDIT]]],
    ['a time beside either', [[TIME], [CREDIT], [CREDIT, TIME]]],
    ['credit without a group', [[USES], [{ price: '$1', pass: { credit: true, cost: '$0.40' } }]]],
  ])('may sell %s', (_what, gates) => {
    const facilitator = fixture.facilitatorWith({});
    for (const price of gates) expect(() => gate(facilitator, price as Offers)).not.toThrow();
  });

  test('are refused where an allowance of the group would be spent at what takes credit', () => {
    const facilitator = fixture.facilitatorWith({});
    const holders = [{ mint: 'USDC', minBalance: 1, allowance: { uses: 10, per: '24h', group } }];
    gate(facilitator, ['$0.01'], { holders });
    expect(() => gate(facilitator, [CREDIT])).toThrow(mixed);
  });
});
