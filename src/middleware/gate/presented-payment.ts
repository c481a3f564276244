import type { Request } from 'express';
import type { PaymentCodec, Reading } from '../../protocol/codecs/codec.js';
import { CODECS } from '../../protocol/codecs/codecs.js';

/** A payment header and the way it came in. */
export interface PresentedPayment {
  readonly codec: PaymentCodec;
  readonly reading: Reading;
}

const HEADERS = CODECS.map((codec) => ({ codec, name: codec.requestHeader.toLowerCase() }));

/** The payment header of a request, newest protocol first; undefined when there is none. */
export function readPayment({ headers }: Request): PresentedPayment | undefined {
  for (const { codec, name } of HEADERS) {
    const header = headers[name]?.toString();
    if (header !== undefined) return { codec, reading: codec.read(header) };
  }
  return undefined;
}
