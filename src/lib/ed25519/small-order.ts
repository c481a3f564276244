// RFC 8032 encodings of the points whose order divides eight, sign bit cleared: every y, and the two that have a second one.
const SMALL_ORDER: ReadonlySet<string> = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
]);
/** Almost every other point is told from them by its first byte. */
const FIRST_BYTES: ReadonlySet<number> = new Set([...SMALL_ORDER].map((it) => Number.parseInt(it.slice(0, 2), 16)));
const LAST = 31;

/**
 * Whether 32 bytes are an Ed25519 point of small order. As a key it has no secret: anybody can sign for it, the System
 * program's address (32 zero bytes) among them. Node takes such signatures before 24; the chain does not.
 */
export function isSmallOrder(point: Uint8Array): boolean {
  if (!FIRST_BYTES.has(point[0] ?? 0)) return false;
  const y = Buffer.from(point);
  y.writeUInt8(y.readUInt8(LAST) & 0x7f, LAST);
  return SMALL_ORDER.has(y.toString('hex'));
}
