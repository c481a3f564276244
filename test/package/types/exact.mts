/** Holds where two types are the same to the compiler; `any` is the same as `any` only. */
export type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Does not compile unless its argument of types is true: `holds<Same<A, B>>()`. */
export function holds<_Claim extends true>(): void {}
