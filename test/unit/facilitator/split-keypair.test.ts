import { Keypair } from '@solana/web3.js';
import { createFacilitator } from '../../../src/facilitator/create-facilitator.js';

const keypair = Keypair.generate();
const network = 'solana-devnet';

test('there are payouts where there is a split wallet, and only there', async () => {
  const split = Keypair.generate();
  const [without, withWallet] = [
    createFacilitator({ network, keypair }),
    createFacilitator({ network, keypair, splitKeypair: split }),
  ];
  expect(without.payouts).toBeUndefined();
  expect(withWallet.payouts?.wallet).toBe(split.publicKey.toBase58());
  await Promise.all([without.close(), withWallet.close()]);
});

test('of several split wallets the first is paid; none of them may pay fees, and one at least must be there', async () => {
  const [first, second] = [Keypair.generate(), Keypair.generate()];
  const facilitator = createFacilitator({ network, keypair, splitKeypair: [first, second] });
  const addresses = [first, second].map(({ publicKey }) => publicKey.toBase58());
  expect(facilitator.payouts).toMatchObject({ wallet: addresses[0], wallets: addresses });
  await facilitator.close();
  for (const splitKeypair of [[first, keypair], []]) {
    expect(thrown(() => createFacilitator({ network, keypair, splitKeypair }))).toMatchObject({
      code: 'bad_option',
      context: { param: 'splitKeypair' },
    });
  }
});

test('the split wallet pays no fees, and a broken key is named without being shown', () => {
  const same = thrown(() => createFacilitator({ network, keypair, splitKeypair: keypair }));
  expect(same).toMatchObject({
    code: 'bad_option',
    message: 'createFacilitator: option "splitKeypair" must be another key than the one that pays fees',
    context: { param: 'splitKeypair' },
  });
  expect(() => createFacilitator({ network, keypair, splitKeypair: '[7,7,77]' })).toThrow(
    /^createFacilitator: option "splitKeypair" must be((?!77).)*$/,
  );
});

test('there is no facilitator without a key that pays fees', () => {
  expect(thrown(() => createFacilitator({ network, keypair: [] }))).toMatchObject({
    code: 'bad_option',
    message: 'createFacilitator: option "keypair" must hold at least one key',
    context: { param: 'keypair' },
  });
});

function thrown(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    return error;
  }
}
