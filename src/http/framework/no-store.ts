import type { RequestHandler } from 'express';

/** Keeps a response out of caches: it holds secrets, or is for its caller only. */
export const noStore: RequestHandler = (_req, res, next) => {
  res.setHeader('Cache-Control', 'no-store');
  next();
};
