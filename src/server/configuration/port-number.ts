import { z } from 'zod';
import { shown } from '../../lib/parsed.js';

const HIGHEST = 65_535;

/** A text that names a port. */
export const portNumber = z.string().transform((text, context) => {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= HIGHEST) return port;
  const message = `a port number from 0 (a free one) to ${HIGHEST}, not ${shown(text)}`;
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});
