import type { Request, Response } from 'express';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { requireTokenBalance } from '../../src/middleware/wallet/require-token-balance.js';
import { openPayFixture, type PayFixture, type Ran } from '../helpers/fixtures/cli-fixture.js';

describe('tollhouse pay, where a wallet signs in before all else,', () => {
  let fixture: PayFixture;
  let shop: string;
  let mint = '';
  let asked: string[] = [];
  let served = 0;
  let isCut = false;

  beforeAll(async () => {
    fixture = await openPayFixture();
    const { sold, sandbox } = fixture;
    const { facilitator } = sold;
    mint = sandbox.createMint({ decimals: 0 }).mint;
    const club = requireTokenBalance({ facilitator, mint, minBalance: 1 });
    const named = requireTokenBalance({ facilitator, mint, minBalance: 1, baseUrl: 'https://bank.example' });
    const handler = (_req: Request, res: Response) => {
      served += 1;
      res.send('for members');
    };
    shop = await fixture.serve((app) => {
      app.use((req, res, next) => {
        const proof = req.headers['sign-in-with-x'] === undefined ? [] : ['signed'];
        const payment = req.headers['payment-signature'] === undefined ? [] : ['paid'];
        asked.push([...proof, ...payment].join(' and ') || 'bare');
        if (isCut && payment.length > 0) {
          isCut = false;
          res.end = () => {
            res.destroy();
            return res;
          };
        }
        next();
      });
      app.get('/club', club, handler);
      app.get('/both', club, requirePayment(sold), handler);
      app.get('/named', named, handler);
      app.get('/plain', (_req, res) => void res.status(402).json({ code: 'sign_in_required' }));
    });
  });
  afterAll(() => fixture.close());
  beforeEach(async () => {
    await fixture.newBuyer('2');
    [asked, served, isCut] = [[], 0, false];
  });

  const pay = (path: string, ...args: readonly string[]): Promise<Ran> =>
    fixture.run(...fixture.payArgs(`${shop}${path}`), ...args);
  const join = () => fixture.sandbox.fundToken(fixture.buyer.payer.publicKey.toBase58(), mint, 1n);

  test.each([[[]], [['--anew']]])('signs in, and is let in for nothing (%j)', async (args) => {
    join();
    const { code, text } = await pay('/club', ...args);
    expect([code, asked, fixture.held()]).toEqual([0, ['bare', 'signed'], 2_000_000n]);
    expect(text).toMatch(/sign-in +asked for, signed\nasked .* → 200\n/);
    expect(text).toContain('for members');
  });

  test('signs in and pays with both together, once', async () => {
    join();
    const { code, text } = await pay('/both');
    expect(text).toContain('for members');
    expect([code, asked, served]).toEqual([0, ['bare', 'signed', 'signed and paid'], 1]);
    expect(fixture.held()).toBe(1_500_000n);
  });

  test('brings what was paid for where the answer is lost: signed in and paid again, taken once', async () => {
    join();
    isCut = true;
    const { code, text } = await pay('/both');
    expect(text).toMatch(/no word .*\n(?:.*\n)*answered +200/);
    expect([code, served, asked.at(-1)]).toEqual([0, 1, 'signed and paid']);
    expect(fixture.held()).toBe(1_500_000n);
  });

  test('pays nothing for a wallet that is not let in, and tells what it lacks', async () => {
    const { code, text } = await pay('/both');
    expect(text).toMatch(/refused +by what the wallet is: .+/);
    expect([code, asked, served, fixture.held()]).toEqual([1, ['bare', 'signed'], 0, 2_000_000n]);
    expect(JSON.parse((await pay('/club', '--json')).out)).not.toHaveProperty('admitted_by');
  });

  test.each([
    ['/named', [], /sign-in +is asked for, and not signed: it is for bank\.example, .*; nothing is signed for another/],
    ['/plain', [], /sign-in +is asked for, and there is nothing that a wallet could sign; sign in as the site has it/],
    [
      '/both',
      ['-H', 'Authorization: Basic bWluZQ=='],
      /sign-in +is asked for, and the request brings a proof of its own/,
    ],
  ])('signs nothing and pays nothing at %s with %j, and says what to do', async (path, args, told) => {
    join();
    const { code, text } = await pay(path, ...args);
    expect(text).toMatch(told);
    expect([code, asked.length, served, fixture.held()]).toEqual([1, 1, 0, 2_000_000n]);
  });

  test('says for programs why it could not sign in', async () => {
    const { out } = await pay('/plain', '--json');
    expect(JSON.parse(out)).toMatchObject({
      ...{ status: 402, paid: false, detail: expect.stringMatching(/^the sign-in is asked for, and there is nothing/) },
    });
  });
});
