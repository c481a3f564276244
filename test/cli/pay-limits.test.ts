import { Connection, Keypair, VersionedTransaction } from '@solana/web3.js';
import { encodePaymentRequiredHeader } from '@x402/core/http';
import express from 'express';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { openPayFixture, type PayFixture } from '../helpers/fixtures/cli-fixture.js';
import { askTerms } from '../helpers/transactions/payments.js';

/** Ten of a token with eight places. */
const HELD = 1_000_000_000n;
/** A blockhash of another chain. */
const ELSEWHERE = Keypair.generate().publicKey.toBase58();

describe('tollhouse pay without a limit', () => {
  let fixture: PayFixture;
  let mint: string;
  let [shop, hostile] = ['', ''];
  let paid: string | undefined;

  beforeAll(async () => {
    fixture = await openPayFixture();
    const { sold, sandbox } = fixture;
    ({ mint } = sandbox.createMint({ decimals: 8 }));
    shop = await fixture.serve((app) => {
      app.get('/dollar', requirePayment({ ...sold, price: '$1' }), (_req, res) => void res.send('sold'));
      app.post('/echo', express.text(), (req, res) => void res.send(`echo of ${req.body}`));
      app.get('/more', requirePayment({ ...sold, price: '$1.01' }), (_req, res) => void res.send('sold'));
    });
    const required = await askTerms(`${shop}/dollar`);
    const [terms] = required.accepts;
    if (terms === undefined) throw new Error('there are no terms');
    const offers = {
      '/odd': { ...terms, asset: mint, amount: '100000000' },
      '/elsewhere': { ...terms, extra: { ...terms.extra, recentBlockhash: ELSEWHERE } },
    };
    hostile = await fixture.serve((app) => {
      app.get(Object.keys(offers), (req, res) => {
        paid = req.get('payment-signature');
        if (paid !== undefined) return void res.send('taken');
        const accepts = Object.entries(offers).flatMap(([path, it]) => (path === req.path ? [it] : []));
        res
          .status(402)
          .set('PAYMENT-REQUIRED', encodePaymentRequiredHeader({ ...required, accepts }))
          .json({});
      });
    });
    await fixture.newBuyer('20');
    sandbox.fundToken(fixture.buyer.payer.publicKey.toBase58(), mint, HELD);
  });
  afterAll(() => fixture.close());

  const pay = (url: string, ...more: readonly string[]) => fixture.run(...fixture.payArgs(url), ...more);

  test('pays a dollar in a stablecoin, and no more', async () => {
    expect(await pay(`${shop}/dollar`)).toMatchObject({ code: 0, text: expect.stringContaining('sold') });
    expect(await pay(`${shop}/more`)).toMatchObject({
      code: 1,
      text: expect.stringContaining(
        'the price is 1.01 USDC, over the limit of 1 dollar, in stablecoins that are known',
      ),
    });
    expect(fixture.held()).toBe(19_000_000n);
  });

  test('sends a method that is typed small as the one that everybody knows, and a body as it is', async () => {
    const asText = ['-H', 'Content-Type: text/plain'];
    for (const typed of [
      ['-X', 'post', '-d', 'it'],
      ['--data-raw', '@it'],
    ])
      expect((await pay(`${shop}/echo`, ...asText, ...typed)).text).toContain(`echo of ${typed.at(-1)}`);
  });

  test('is told by the words of the server why it offers nothing', async () => {
    const required = { x402Version: 2, resource: { url: `${shop}/closed` }, accepts: [] };
    const closed = await fixture.serve((app) => {
      app.get('/closed', (_req, res) => {
        res.setHeader('PAYMENT-REQUIRED', Buffer.from(JSON.stringify(required)).toString('base64'));
        res.status(402).json({ detail: 'Nobody can buy it at the moment.' });
      });
    });
    expect(await pay(`${closed}/closed`)).toMatchObject({
      code: 1,
      text: expect.stringContaining(
        'the 402 offers no terms to pay; the server says: Nobody can buy it at the moment.\n',
      ),
    });
  });

  test('a HEAD, which buys nothing, is told why it is not paid for', async () => {
    const before = fixture.held();
    const told = 'a HEAD has no body, and gates sell nothing for it: pay with -X GET';
    expect(await pay(`${shop}/dollar`, '-X', 'HEAD')).toMatchObject({ code: 1, text: expect.stringContaining(told) });
    expect((await pay(`${shop}/dollar`, '-X', 'HEAD', '--json')).text).toContain(`"detail": "${told}"`);
    expect(fixture.held()).toBe(before);
  });

  test('signs nothing in a token of which nobody knows the worth, and says what allows it', async () => {
    const { code, text } = await pay(`${hostile}/odd`);
    expect([code, text]).toEqual([1, expect.stringContaining(`the price is 1 ${mint}, over the limit of 1 dollar`)]);
    expect(text).toContain('allow more with --max <amount>');
    expect(await pay(`${hostile}/odd`, '--max', '1')).toMatchObject({ text: expect.stringContaining('taken') });
  });

  test('signs for the chain that it asks itself, whatever blockhash the server offers', async () => {
    expect(await pay(`${hostile}/elsewhere`)).toMatchObject({ text: expect.stringContaining('taken') });
    const { transaction } = JSON.parse(Buffer.from(paid ?? '', 'base64').toString()).payload;
    const { message } = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'));
    expect(message.recentBlockhash).not.toBe(ELSEWHERE);
    const connection = new Connection(fixture.sandbox.rpcUrl, 'confirmed');
    expect(await connection.isBlockhashValid(message.recentBlockhash)).toMatchObject({ value: true });
  });
});
