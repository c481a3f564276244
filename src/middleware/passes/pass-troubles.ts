import type { ErrorCode } from '../../errors/errors.js';
import type { KeptPass, PassRefusal, PassTrouble } from './pass-types.js';

const PAY = 'Pay one of the offered terms to go on.';

const TROUBLES: Readonly<Record<PassTrouble, readonly [code: ErrorCode, detail: string]>> = {
  unknown: ['invalid_pass', `The access pass is not known here any more. ${PAY}`],
  revoked: [
    'pass_revoked',
    `The access pass or its token was revoked. Sign in with the wallet that paid, or pay anew.`,
  ],
  ended: ['pass_ended', `The access pass has ended. ${PAY}`],
  used_up: ['pass_used_up', `The access pass is used up. ${PAY}`],
};
const CREDIT_USED_UP = `What is left of the access pass is less than what is to be taken from it. ${PAY}`;

/** A request that is not let in by a pass. */
export function refusal(code: ErrorCode, detail: string, reason?: string): PassRefusal {
  return { admitted: false, cause: { code, detail, ...(reason === undefined ? {} : { reason }) } };
}

/** The same for what is wrong with the pass itself. */
export function troubled(trouble: PassTrouble, kind: KeptPass['kind']): PassRefusal {
  const [code, detail] = TROUBLES[trouble];
  return refusal(code, kind === 'credit' && trouble === 'used_up' ? CREDIT_USED_UP : detail);
}
