import { generateKeyPairSync, sign } from 'node:crypto';

/** What a TLS server shows: PEM. */
export interface SelfSigned {
  readonly key: string;
  readonly cert: string;
}

/** OIDs, as they stand in DER: ecdsa-with-SHA256, and commonName. */
const ECDSA_SHA256 = der(0x30, Buffer.from('06082a8648ce3d040302', 'hex'));
const COMMON_NAME = Buffer.from('0603550403', 'hex');
const DAY_MS = 86_400_000;

/** A certificate for `localhost` that nobody vouches for, good from yesterday until tomorrow (RFC 5280, without extensions). */
export function selfSigned(now: number = Date.now()): SelfSigned {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = der(0x30, der(0x31, der(0x30, COMMON_NAME, der(0x0c, Buffer.from('localhost')))));
  const validity = der(0x30, time(now - DAY_MS), time(now + DAY_MS));
  const body = der(
    0x30,
    ...[der(0x02, Buffer.from([1])), ECDSA_SHA256, name, validity, name],
    publicKey.export({ type: 'spki', format: 'der' }),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, privateKey));
  const text = der(0x30, body, ECDSA_SHA256, signature).toString('base64');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${text.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
  };
}

function time(at: number): Buffer {
  const text = new Date(at).toISOString().replace(/[-:T]|\.\d+/g, '');
  return der(0x17, Buffer.from(text.slice(2)));
}

/** One value of a tag, with its length before it. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
