/** Express 4 under its test name, typed as Express 5: one suite runs on both. What differs in the types is not used. */
declare module 'express4' {
  import express from 'express';
  export default express;
}
