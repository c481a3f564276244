import type { Keypair } from '@solana/web3.js';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { type CliFixture, openCliFixture, type Ran } from '../helpers/fixtures/cli-fixture.js';
import { serveApp } from '../helpers/http/app-server.js';
import { type BoughtPass, buyPass, passAnswer } from '../helpers/http/passes.js';

describe('tollhouse passes', () => {
  let fixture: CliFixture;
  let shop: Awaited<ReturnType<typeof serveApp>>;
  let payer: Keypair;
  let bought: BoughtPass;

  beforeAll(async () => {
    fixture = await openCliFixture();
    const { chain, facilitator, url } = fixture.server;
    const { sandbox, payTo = '' } = chain;
    if (sandbox === undefined) throw new Error('there is no sandbox');
    payer = await sandbox.createWallet({ usdc: '10' });
    const sold = { facilitator, payTo, price: '$0.50' };
    shop = await serveApp((app) => {
      const pack = { price: '$0.50', pass: { uses: 5 } };
      const day = { price: '$1', pass: { for: '24h', group: 'magazine' } };
      app.get('/report', requirePayment({ ...sold, price: [pack, day] }), (_req, res) => void res.send('good'));
    });
    bought = await buyPass({ sandbox, payer }, `${shop.url}/report`);
    await run('login', '--keypair', fixture.keyFile(payer), '--server', url);
  });
  afterAll(async () => {
    await shop.close();
    await fixture.close();
  });

  const run = (...args: readonly string[]): Promise<Ran> => fixture.run(...args);
  const jsonOf = ({ out }: Ran) => JSON.parse(out);
  const shown = async () => passAnswer(await fetch(`${shop.url}/report`, { headers: bought.token }));

  test('list shows what was bought and what is left, as a table and as JSON', async () => {
    const { code, text } = await run('passes', 'list');
    expect(text).toMatch(
      /^id +covers +site +left +ends +status\npas_\w+ +GET \/report +\w+ solana-devnet +4 of 5 +– +active\n$/,
    );
    expect(code).toBe(0);
    expect(jsonOf(await run('passes', 'list', '--json'))).toEqual([
      expect.objectContaining({ covers: 'GET /report', wallet: payer.publicKey.toBase58(), left: '4', bought: '5' }),
    ]);
  });

  test('list shows until when a pass for a time is good', async () => {
    const { facilitator } = fixture.server;
    const place = { site: 'https://shop.example', scope: 'group magazine' };
    const wallet = payer.publicKey.toBase58();
    await facilitator.passes.open({
      ...{ id: 'pas_day', paymentId: 'a', wallet, ...place, kind: 'until', lastsMs: 1e9 },
    });
    const { text } = await run('passes', 'list');
    expect(text).toMatch(
      /pas_day +group magazine +https:\/\/shop\.example +any number +\d{4}-\d\d-\d\d \d\d:\d\d +active\n/,
    );
  });

  test('withdraw ends the tokens of a pass, by what it covers or its id, and the pass stays', async () => {
    expect(await shown()).toMatchObject({ status: 200, left: '3' });
    const { code, text } = await run('passes', 'withdraw', 'GET /report');
    expect([code, text]).toEqual([0, expect.stringMatching(/^withdrawn +all tokens of pas_\w+ \(GET \/report\)/)]);
    expect(await shown()).toMatchObject({ status: 402, code: 'pass_revoked' });
    const [{ id, status }] = jsonOf(await run('passes', 'list', '--json')).filter(
      ({ covers }: { readonly covers: string }) => covers === 'GET /report',
    );
    expect(status).toBe('active');
    expect(await run('passes', 'withdraw', id, '--json')).toEqual({ code: 0, out: '', text: '' });
  });

  test('withdraw says what there is where none is meant', async () => {
    const { code, text } = await run('passes', 'withdraw', 'GET /reprot');
    expect([code, text]).toEqual([1, 'tollhouse: you have no pass "GET /reprot"; did you mean "GET /report"?\n']);
    expect(await run('passes', 'withdraw')).toMatchObject({
      code: 2,
      text: expect.stringContaining('usage: tollhouse passes withdraw <pass>'),
    });
    expect(await run('passes', 'end')).toMatchObject({ code: 2, text: expect.stringContaining('list, withdraw') });
  });

  test('says how to sign in to who has not, and what there is to buy to who has none', async () => {
    const { url, chain } = fixture.server;
    const other = await chain.sandbox?.createWallet({});
    if (other === undefined) throw new Error('there is no sandbox');
    await run('logout', '--server', url);
    expect(await run('passes', 'list', '--server', url)).toMatchObject({
      code: 1,
      text: expect.stringContaining(`not signed in at ${url}`),
    });
    await run('login', '--keypair', fixture.keyFile(other), '--server', url);
    expect((await run('passes', 'list')).text).toMatch(/^no passes yet/);
    expect((await run('passes', 'withdraw', 'x')).text).toContain('you have no passes at all');
  });
});
