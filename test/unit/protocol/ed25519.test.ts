import { createHash, createPublicKey, verify } from 'node:crypto';
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

const GROUP_ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;

/** Signatures that have nothing to do with any message: of small order, and the point and scalar of an own key. */
function candidates(): Buffer[] {
  const seed = Buffer.alloc(32, 7);
  const scalar = createHash('sha512').update(seed).digest().subarray(0, 32);
  scalar.writeUInt8(scalar.readUInt8(0) & 248, 0);
  scalar.writeUInt8((scalar.readUInt8(31) & 127) | 64, 31);
  const reduced = BigInt(`0x${scalar.reverse().toString('hex')}`) % GROUP_ORDER;
  return [
    Buffer.concat([createEd25519Signer(seed).publicKey, encoded(reduced, 0)]),
    ...KEYS_WITHOUT_SECRET.map((point) => Buffer.concat([point, Buffer.alloc(32)])),
  ];
}

/** A message and one of these signatures that OpenSSL takes as that of a key. */
function forge(publicKey: Buffer, signatures: readonly Buffer[]): { message: Buffer; signature: Buffer } {
  const key = createPublicKey({ key: Buffer.concat([SPKI_HEAD, publicKey]), format: 'der', type: 'spki' });
  for (let attempt = 0; ; attempt += 1) {
    const message = Buffer.from(`give me access, attempt ${attempt}`);
    const signature = signatures.find((it) => verify(null, message, key, it));
    if (signature !== undefined) return { message, signature };
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
    const [ordinary, ...small] = candidates();
    for (const signatures of [[ordinary!], small]) {
      const { message, signature } = forge(key, signatures);
      expect(verifyEd25519(key, message, signature)).toBe(false);
    }
  },
);

test('garbage is no signature, and does not throw', () => {
  const bytes = fc.uint8Array({ maxLength: 80 });
  fc.assert(fc.property(bytes, bytes, bytes, (key, message, signature) => !verifyEd25519(key, message, signature)));
});
