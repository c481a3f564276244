import { createPublicKey, verify } from 'node:crypto';
import fc from 'fast-check';
import { createEd25519Signer, verifyEd25519 } from '../../../src/protocol/ed25519.js';

const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex');
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

/** A message and a signature of it that OpenSSL takes, made without any secret. */
function forge(publicKey: Buffer): { message: Buffer; signature: Buffer } {
  const key = createPublicKey({ key: Buffer.concat([SPKI_HEAD, publicKey]), format: 'der', type: 'spki' });
  for (let attempt = 0; ; attempt += 1) {
    const message = Buffer.from(`give me access, attempt ${attempt}`);
    for (const point of KEYS_WITHOUT_SECRET) {
      const signature = Buffer.concat([point, Buffer.alloc(32)]);
      if (verify(null, message, key, signature)) return { message, signature };
    }
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
    const { message, signature } = forge(key);
    expect(verifyEd25519(key, message, signature)).toBe(false);
  },
);

test('garbage is no signature, and does not throw', () => {
  const bytes = fc.uint8Array({ maxLength: 80 });
  fc.assert(fc.property(bytes, bytes, bytes, (key, message, signature) => !verifyEd25519(key, message, signature)));
});
