import { Keypair } from '@solana/web3.js';
import { associatedTokenAddress } from '../../../src/solana/transaction/associated-token.js';
import { useNativeFixture } from '../../helpers/fixtures/native-fixture.js';

const SYSTEM = '11111111111111111111111111111111';
const fixture = useNativeFixture();

describe('what cannot be paid is not asked for', () => {
  const wallet = Keypair.generate().publicKey.toBase58();
  const good = { amount: 1, token: 'USDC', recipient: wallet };
  const half = { recipient: wallet, bps: 5_000 };
  const cases: [string, object, string][] = [
    ['no amount', { amount: undefined }, 'invalid_amount'],
    ['nothing', { amount: 0 }, 'invalid_amount'],
    ['less than nothing', { amount: -1 }, 'invalid_amount'],
    ['more decimals than the token has', { amount: 0.0000001 }, 'invalid_amount'],
    ['text that is no number', { amount: '1,5' }, 'invalid_amount'],
    ['more than a JSON number holds', { amount: '9007199255' }, 'invalid_amount'],
    ['an amount that is an object', { amount: {} }, 'invalid_amount'],
    ['no token', { token: undefined }, 'invalid_token'],
    ['an unknown symbol', { token: 'DOGE' }, 'invalid_token'],
    ['a mint that is a wallet', { token: wallet }, 'invalid_token'],
    ['no recipient', { recipient: undefined }, 'invalid_recipient'],
    ['a recipient that is no address', { recipient: 'me' }, 'invalid_recipient'],
    ['a payer that is no address', { payer: 'me' }, 'invalid_payer'],
    ['a payer that is the recipient', { payer: wallet }, 'invalid_payer'],
    ['a split of nobody', { split: [] }, 'invalid_split'],
    ['a split that sums to less', { split: [half] }, 'invalid_split'],
    [
      'a split with nothing for one',
      {
        split: [
          { ...half, bps: 10_000 },
          { ...half, bps: 0 },
        ],
      },
      'invalid_split',
    ],
    ['a split without the recipient', { split: [{ recipient: SYSTEM, bps: 10_000 }] }, 'invalid_split'],
    ['a split with somebody who is no address', { split: [half, { recipient: 'me', bps: 5_000 }] }, 'invalid_split'],
    ['nine recipients', { split: Array(9).fill({ ...half, bps: 1_111 }) }, 'invalid_split'],
    ['a split of too small an amount', { amount: 0.000001, split: [half, half] }, 'invalid_split'],
    ['another network', { network: 'solana' }, 'invalid_request'],
    ['a memo of more than 256 bytes', { memo: 'ü'.repeat(129) }, 'invalid_request'],
    ['an empty memo', { memo: '' }, 'invalid_request'],
    [
      'metadata of more than 2,048 bytes',
      { metadata: Object.fromEntries('abcde'.split('').map((k) => [k, 'x'.repeat(500)])) },
      'invalid_request',
    ],
    ['29 seconds', { expires_in: 29 }, 'invalid_request'],
    ['901 seconds', { expires_in: 901 }, 'invalid_request'],
    ['part of a second', { expires_in: 60.5 }, 'invalid_request'],
  ];
  test.each(cases)('%s', async (_name, change, code) => {
    const answer = await fixture().post('/create-payment', { ...good, ...change });
    expect([answer.status, answer.body['code']]).toEqual([400, code]);
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
  });

  test('a key of ours as payer', async () => {
    const payer = fixture().feePayer.publicKey.toBase58();
    const answer = await fixture().post('/create-payment', { ...good, payer });
    expect([answer.status, answer.body['code']]).toEqual([400, 'invalid_payer']);
  });

  test('to what is no wallet: a token account, a mint, a program, a sysvar', async () => {
    const { mint, program } = fixture().facilitator.tokens[0]!;
    const account = associatedTokenAddress(fixture().payTo, mint, program);
    for (const token of ['USDC', 'SOL']) {
      for (const recipient of [account, mint, program, SYSTEM, 'SysvarC1ock11111111111111111111111111111111']) {
        const answer = await fixture().post('/create-payment', { ...good, token, recipient });
        expect([recipient, answer.status, answer.body['code']]).toEqual([recipient, 400, 'invalid_recipient']);
      }
    }
  });

  test('in a token that may not arrive in full', async () => {
    const fee = { transferFee: { basisPoints: 100, maximumFee: 1_000_000n } };
    const { mint } = fixture().sandbox.createMint({ extensions: fee });
    const answer = await fixture().post('/create-payment', { ...good, token: mint });
    expect([answer.status, answer.body['code']]).toEqual([400, 'invalid_token']);
  });
});
