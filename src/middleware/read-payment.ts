import type { Request } from 'express';
import type { Door, Reading } from '../protocol/door.js';
import { DOORS } from '../protocol/doors.js';

/** A payment header and the door it came through. */
export interface PresentedPayment {
  readonly door: Door;
  readonly reading: Reading;
}

/** The payment header of a request, newest protocol first; undefined when there is none. */
export function readPayment(req: Request): PresentedPayment | undefined {
  for (const door of DOORS) {
    const header = req.get(door.requestHeader);
    if (header !== undefined) return { door, reading: door.read(header) };
  }
  return undefined;
}
