import { createPublicKey, verify } from 'node:crypto';
import { Keypair } from '@solana/web3.js';
import fc from 'fast-check';
import { createEd25519Signer, verifyEd25519 } from '../../../src/protocol/ed25519.js';

const seeds = fc.uint8Array({ minLength: 32, maxLength: 32 });
const messages = fc.uint8Array({ maxLength: 200 });

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
    fc.property(seeds, (seed) => {
      expect(createEd25519Signer(seed).publicKey).toEqual(Uint8Array.from(Keypair.fromSeed(seed).publicKey.toBytes()));
    }),
    { numRuns: 20 },
  );
});

test('a signature is good for its message and key, and not with any bit of the three changed', () => {
  const positions = fc.nat({ max: 1_000_000 });
  fc.assert(
    fc.property(seeds, messages, positions, (seed, message, position) => {
      const signer = createEd25519Signer(seed);
      const parts = [signer.publicKey, message, signer.sign(message)] as const;
      expect(verifyEd25519(...parts)).toBe(true);
      const all = Buffer.concat(parts);
      const bit = position % (8 * all.length);
      all.writeUInt8(all.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      const end = 32 + message.length;
      expect(verifyEd25519(all.subarray(0, 32), all.subarray(32, end), all.subarray(end))).toBe(false);
    }),
  );
});

test('keys and signatures of any bytes and lengths are answered with no, never thrown', () => {
  const bytes = fc.uint8Array({ maxLength: 80 });
  fc.assert(
    fc.property(bytes, bytes, bytes, (key, message, signature) => {
      expect(verifyEd25519(key, message, signature)).toBe(false);
    }),
  );
});

test('a signature with its scalar enlarged by the order of the group is refused', () => {
  const signer = createEd25519Signer(hex(VECTORS[1]!.seed));
  const message = Buffer.from('message');
  const signature = Buffer.from(signer.sign(message));
  const order = 2n ** 252n + 27742317777372353535851937790883648493n;
  const scalar = BigInt(`0x${Buffer.from(signature.subarray(32)).reverse().toString('hex')}`) + order;
  const enlarged = hex(scalar.toString(16).padStart(64, '0')).reverse();
  const malleable = Buffer.concat([signature.subarray(0, 32), enlarged]);
  expect(verifyEd25519(signer.publicKey, message, malleable)).toBe(false);
});

// Encodings of the points whose order divides eight, sign bit aside; the last two are second spellings of 0 and 1.
const SMALL_ORDER = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
];

test.each(SMALL_ORDER)('a key for which anybody can sign is refused: %s', (text) => {
  const key = hex(text);
  const forged = Buffer.concat([hex(SMALL_ORDER[1]!), Buffer.alloc(32)]);
  const der = Buffer.concat([hex('302a300506032b6570032100'), key]);
  const openSsl = createPublicKey({ key: der, format: 'der', type: 'spki' });
  // The forgery is good for one message in eight at least, and OpenSSL takes it.
  const messages = Array.from({ length: 400 }, (_, index) => Buffer.of(index & 0xff, index >> 8));
  const taken = messages.filter((message) => verify(null, message, openSsl, forged));
  expect(taken.length).toBeGreaterThan(0);
  expect(taken.filter((message) => verifyEd25519(key, message, forged))).toEqual([]);
});
