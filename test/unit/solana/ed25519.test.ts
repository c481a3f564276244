import { Keypair } from '@solana/web3.js';
import fc from 'fast-check';
import { createEd25519Signer, verifyEd25519 } from '../../../src/lib/ed25519/ed25519.js';
import {
  NEUTRAL_POINT,
  respelled,
  signatureByNobody,
  signWithoutNonce,
} from '../../helpers/transactions/forged-signatures.js';

function hex(text: string): Buffer {
  return Buffer.from(text, 'hex');
}

// RFC 8032, section 7.1.
const VECTORS = [
  {
    name: 'test 1, the empty message',
    seed: '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
    key: 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    message: '',
    signature:
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
  },
  {
    name: 'test 3, two bytes',
    seed: 'c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7',
    key: 'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
    message: 'af82',
    signature:
      '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
  },
];

test.each(VECTORS)('signs and verifies as RFC 8032 does: $name', ({ seed, key, message, signature }) => {
  const signer = createEd25519Signer(hex(seed));
  expect(Buffer.from(signer.publicKey).toString('hex')).toBe(key);
  expect(Buffer.from(signer.sign(hex(message))).toString('hex')).toBe(signature);
  expect(verifyEd25519(hex(key), hex(message), hex(signature))).toBe(true);
});

test('a signer has the address that web3.js gives its seed', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (seed) => {
      expect(createEd25519Signer(seed).publicKey).toEqual(Uint8Array.from(Keypair.fromSeed(seed).publicKey.toBytes()));
    }),
    { numRuns: 20 },
  );
});

const seed = hex(VECTORS[0]!.seed);
const { publicKey, sign } = createEd25519Signer(seed);
const message = Buffer.from('a message');

test.each([
  ['by a key for which anybody can sign', NEUTRAL_POINT, signatureByNobody()],
  ['with the nonce zero', publicKey, signWithoutNonce(seed, message)],
])('a signature %s is refused as on the chain, whether Node takes it or not', (_name, key, signature) => {
  expect(verifyEd25519(key, message, signature)).toBe(false);
});

test('a signature has one spelling', () => {
  const signature = sign(message);
  expect(verifyEd25519(publicKey, message, signature)).toBe(true);
  expect(verifyEd25519(publicKey, message, respelled(signature))).toBe(false);
});
