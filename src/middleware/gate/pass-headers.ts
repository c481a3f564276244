/** The header that shows a pass, and in which it is given out. */
export const PASS_HEADER = 'Access-Pass';

/** The header that says what is left. */
export const REMAINING_HEADER = 'Access-Pass-Remaining';
