import { Keypair } from '@solana/web3.js';
import { associatedTokenAddress } from '../../../../src/solana/transaction/associated-token.js';
import { isOnCurve } from '../../../../src/solana/transaction/on-curve.js';
import { PROGRAMS } from '../../../../src/solana/transaction/programs.js';

const wallet = Keypair.generate().publicKey.toBase58();

test('the address of a key is on the curve', () => {
  expect(isOnCurve(wallet)).toBe(true);
});

test('the address of a token account is not: nobody holds its key', () => {
  const account = associatedTokenAddress(wallet, Keypair.generate().publicKey.toBase58(), PROGRAMS.token);
  expect(isOnCurve(account)).toBe(false);
});

test.each([[''], ['nonsense'], [wallet + wallet], [wallet.slice(0, 20)], ['0'.repeat(44)]])(
  '%j is no address',
  (text) => {
    expect(isOnCurve(text)).toBe(false);
  },
);
