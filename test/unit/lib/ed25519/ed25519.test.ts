import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { createEd25519Signer, verifyEd25519 } from '../../../../src/lib/ed25519/ed25519.js';
import { isSmallOrder } from '../../../../src/lib/ed25519/small-order.js';
import {
  GROUP_ORDER,
  littleEndian,
  NEUTRAL_POINT,
  signatureByNobody,
} from '../../../helpers/transactions/forged-signatures.js';

const P = 2n ** 255n - 19n;
const ORDER_EIGHT = 0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n;

function encoded(y: bigint, sign: number): Buffer {
  const bytes = Buffer.from(y.toString(16).padStart(64, '0'), 'hex').reverse();
  bytes.writeUInt8(bytes.readUInt8(31) | (sign << 7), 31);
  return bytes;
}

const KEYS_WITHOUT_SECRET = [0n, 1n, ORDER_EIGHT, P - ORDER_EIGHT, P - 1n, P, P + 1n].flatMap((y) => [
  encoded(y, 0),
  encoded(y, 1),
]);

/** Signatures that have nothing to do with any message: of an ordinary point, and of a point of small order. */
const SIGNATURES = [signatureByNobody(), Buffer.concat([NEUTRAL_POINT, Buffer.alloc(32)])];

/**
 * A message for which a signature is good by the equation of RFC 8032, whatever Node says to it: the key comes in times a
 * multiple of eight, which is a multiple of its order, so that it falls out.
 */
function forge(publicKey: Buffer, signature: Uint8Array): Buffer {
  for (let attempt = 0; ; attempt += 1) {
    const message = Buffer.from(`give me access, attempt ${attempt}`);
    const digest = createHash('sha512').update(signature.subarray(0, 32)).update(publicKey).update(message).digest();
    if ((littleEndian(digest) % GROUP_ORDER) % 8n === 0n) return message;
  }
}

test('what a signer signs is its own, and nothing else is', () => {
  const bytes = fc.uint8Array({ maxLength: 200 });
  const seed = fc.uint8Array({ minLength: 32, maxLength: 32 });
  fc.assert(
    fc.property(seed, seed, bytes, fc.nat(511), (mine, other, message, bit) => {
      const { publicKey, sign } = createEd25519Signer(mine);
      const signature = sign(message);
      const flipped = Uint8Array.from(signature, (it, at) => (at === bit >> 3 ? it ^ (1 << (bit & 7)) : it));
      expect(verifyEd25519(publicKey, message, signature)).toBe(true);
      expect(verifyEd25519(publicKey, message, flipped)).toBe(false);
      expect(verifyEd25519(publicKey, Buffer.concat([message, Buffer.from('.')]), signature)).toBe(false);
      const stranger = createEd25519Signer(other).publicKey;
      if (!Buffer.from(mine).equals(other)) expect(verifyEd25519(stranger, message, signature)).toBe(false);
    }),
  );
});

test.each(KEYS_WITHOUT_SECRET.map((key) => [key.toString('hex'), key] as const))(
  'a key for which anybody can sign proves nothing: %s',
  (_hex, key) => {
    for (const signature of SIGNATURES) expect(verifyEd25519(key, forge(key, signature), signature)).toBe(false);
    // Node refuses them by itself since 24: only this tells there that we do.
    expect(isSmallOrder(key)).toBe(true);
  },
);

test('a key that has a secret is none of those', () => {
  const seed = fc.uint8Array({ minLength: 32, maxLength: 32 });
  fc.assert(fc.property(seed, (it) => !isSmallOrder(createEd25519Signer(it).publicKey)));
});

test('garbage is no signature, and does not throw', () => {
  const bytes = fc.uint8Array({ maxLength: 80 });
  fc.assert(fc.property(bytes, bytes, bytes, (key, message, signature) => !verifyEd25519(key, message, signature)));
});
