import type { Request } from 'express';
import type { PaymentCodec, Reading } from '../../protocol/codecs/codec.js';
import { CODECS } from '../../protocol/codecs/codecs.js';

/** A payment header and the way it came in. */
export interface PresentedPayment {
  readonly codec: PaymentCodec;
  readonly reading: Reading;
}

/** The payment header of a request, newest protocol first; undefined when there is none. */
export function readPayment(req: Request): PresentedPayment | undefined {
  for (const codec of CODECS) {
    const header = req.get(codec.requestHeader);
    if (header !== undefined) return { codec, reading: codec.read(header) };
  }
  return undefined;
}
