import type { Express, RequestHandler } from 'express';
import { createFacilitator } from '../../../src/facilitator/create-facilitator.js';
import { createIdentity, type WalletIdentity } from '../../../src/identity/create-identity.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { requireTokenBalance } from '../../../src/middleware/wallet/require-token-balance.js';
import { SANDBOX_TOKENS } from '../../../src/protocol/networks/tokens.js';
import type { Token } from '../../../src/protocol/types.js';
import { buildPaymentTransaction } from '../../../src/solana/building/payment-transaction.js';
import { PROGRAMS } from '../../../src/solana/transaction/programs.js';
import { codeOf } from '../../helpers/code-of.js';
import { SECRET } from '../../helpers/fixtures/identity-fixture.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { accessTokenFor } from '../../helpers/http/sign-in.js';
import { askTerms, carry, latestBlockhash } from '../../helpers/transactions/payments.js';
import { walletKey } from '../../helpers/transactions/wallet-key.js';
import { until } from '../../helpers/until.js';

const tell: RequestHandler = (_req, res) => void res.send('come in');
let fixture: TollFixture;
let identity: WalletIdentity;
let names = 0;

beforeAll(async () => {
  fixture = await openTollFixture();
  identity = createIdentity({ network: fixture.facilitator.network, jwtSecret: SECRET });
});
afterAll(() => fixture.close());

/** Gates of a facilitator for which a new token of six decimals has as many as told. */
async function shopWith(decimals: number) {
  const { sandbox, payTo } = fixture;
  const { mint } = sandbox.createMint({ decimals: 6 });
  sandbox.fundToken(payTo, mint, 0n);
  sandbox.fundToken(fixture.payer.publicKey, mint, 10n ** 12n);
  const token: Token = { symbol: 'POINTS', mint, decimals, program: PROGRAMS.token };
  const facilitator = fixture.facilitatorWith({ tokens: [...SANDBOX_TOKENS, token] });
  const url = await fixture.serve((app: Express) => {
    app.get('/report', requirePayment({ facilitator, payTo, price: '2 POINTS' }), tell);
    app.get('/club', requireTokenBalance({ facilitator, identity, mint, minBalance: 2 }), tell);
  });
  return { facilitator, mint, url };
}

/** A payment of what is asked for, with the decimals that the mint has. */
async function pay(url: string, mint: string): Promise<Response> {
  const { accepts } = await askTerms(`${url}/report`);
  const [accepted] = accepts;
  if (accepted === undefined) throw new Error('nothing is offered');
  const transaction = buildPaymentTransaction({
    payer: fixture.payer,
    feePayer: String(accepted.extra?.['feePayer']),
    asset: mint,
    tokenProgram: PROGRAMS.token,
    decimals: 6,
    amount: BigInt(accepted.amount),
    payTo: accepted.payTo,
    blockhash: await latestBlockhash(fixture.sandbox),
  });
  return fetch(`${url}/report`, { headers: carry(transaction, accepted).v2 });
}

async function enter(url: string, mint: string, amount: bigint): Promise<Response> {
  const wallet = walletKey(`points ${names++}`);
  fixture.sandbox.fundToken(wallet.address, mint, amount);
  return fetch(`${url}/club`, { headers: await accessTokenFor(wallet, identity, url) });
}

describe('a token that is declared as it is on the chain', () => {
  test('is priced, paid and held in whole tokens', async () => {
    const { facilitator, mint, url } = await shopWith(6);
    expect((await pay(url, mint)).status).toBe(200);
    expect((await enter(url, mint, 2_000_000n)).status).toBe(200);
    expect((await enter(url, mint, 1_999_999n)).status).toBe(403);
    const { request } = await facilitator.createPayment({ amount: '2', token: 'POINTS', recipient: fixture.payTo });
    expect(request.amount).toBe(2_000_000n);
  });
});

describe.each([4, 9])('a token that is declared with %i decimals and has six', (decimals) => {
  test('is taken in no payment, and asked for no longer once the chain has said so', async () => {
    const { mint, url } = await shopWith(decimals);
    const before = fixture.sandbox.tokenBalance(fixture.payTo, mint);
    const paid = await pay(url, mint);
    expect(paid.status).toBe(500);
    expect(fixture.sandbox.tokenBalance(fixture.payTo, mint)).toBe(before);
    await until(async () => (await fetch(`${url}/report`)).status === 500);
  });

  test('opens no gate at the wrong amount: that is a fault of the set-up', async () => {
    const { facilitator, mint, url } = await shopWith(decimals);
    expect((await enter(url, mint, 10n ** 12n)).status).toBe(500);
    const look = facilitator.readMint(mint);
    await expect(look).rejects.toThrow(
      `createFacilitator: option "tokens": POINTS (${mint}): it has 6 decimals on the chain, not ${decimals}; correct "decimals"`,
    );
  });

  test('is taken in no payment request', async () => {
    const { facilitator } = await shopWith(decimals);
    const created = facilitator.createPayment({ amount: '2', token: 'POINTS', recipient: fixture.payTo });
    expect(await codeOf(created)).toBe('bad_option');
  });
});

test('a symbol that stands twice is refused at start', () => {
  const [usdc, usdt] = SANDBOX_TOKENS;
  if (usdc === undefined || usdt === undefined) throw new Error('tokens are missing');
  const facilitatorOf = (tokens: readonly Token[]) =>
    createFacilitator({ network: 'solana-devnet', keypair: fixture.feePayer, tokens, check: false });

  expect(() => facilitatorOf([usdc, { ...usdt, symbol: usdc.symbol }])).toThrow(/there are two tokens "USDC"/);
  expect(facilitatorOf([usdc, usdt]).tokens).toHaveLength(2);
});
