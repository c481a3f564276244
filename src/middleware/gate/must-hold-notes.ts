import type { Request } from 'express';
import { createRequestNote } from '../../lib/http/request-note.js';
import type { MustHold } from '../../pages/texts/must-hold.js';
import type { Refused } from './gate.js';

const notes = createRequestNote<Request, readonly MustHold[]>();

/**
 * A refusal whose page says what a wallet may hold to be let in, any one of some things. It is noted when it is answered, and not
 * before: a gate behind this one, which asks for more, would tell it too. Of gates within others the outermost knows all.
 */
export function tellingMustHold(req: Request, refused: Refused, mustHold: readonly MustHold[]): Refused {
  if (mustHold.length === 0) return refused;
  const answer = () => {
    if (notes.of(req) === undefined) notes.put(req, mustHold);
    return refused.answer();
  };
  const { admitted, ...parts } = refused;
  return { admitted, ...parts, mustHold, answer };
}

/** What the response that is being written says of it; empty where nothing. */
export function mustHoldOf(req: Request): readonly MustHold[] {
  return notes.of(req) ?? [];
}
