import { z } from 'zod';
import { defined } from '../../lib/defined.js';
import { DARK, LIGHT, type PageColours } from '../../pages/layout/page-colours.js';
import { coloursOn, type PageOptions, pageOptions } from '../../pages/layout/page-options.js';

const MOST_CHARACTERS = 500;
const COLOURS = `a list such as "accent=#0a6b4f, paper=#ffffff", of ${Object.keys(LIGHT).join(', ')}`;
const coloursFor = (ours: PageColours) =>
  z
    .string()
    .max(MOST_CHARACTERS, COLOURS)
    .transform((text, context) => {
      const pairs = text.split(',').map((it) => it.split('=').map((part) => part.trim()));
      const isTwice = new Set(pairs.map(([name]) => name)).size < pairs.length;
      const read = coloursOn(ours).safeParse(Object.fromEntries(pairs));
      if (read.success && !isTwice && pairs.every(({ length }) => length === 2)) return read.data;
      const unread = read.error?.issues.find(({ code }) => code === 'custom');
      context.addIssue({ code: 'custom', message: unread?.message ?? COLOURS });
      return z.NEVER;
    });

/** The variables, each with its rule. */
export const PAGE_VARIABLES = {
  PAGE_NAME: pageOptions.shape.name,
  PAGE_LOGO: pageOptions.shape.logo,
  PAGE_COLOURS: coloursFor(LIGHT).optional(),
  PAGE_COLOURS_DARK: coloursFor(DARK).optional(),
};

const variables = z.object(PAGE_VARIABLES);

/** What variables that were read mean; undefined where the pages look as ours do. */
export function pageOf({
  PAGE_NAME: name,
  PAGE_LOGO: logo,
  PAGE_COLOURS: light,
  PAGE_COLOURS_DARK: dark,
}: z.output<typeof variables>): PageOptions | undefined {
  const schemes = defined({ light: light && defined(light), dark: dark && defined(dark) });
  const page = { ...defined({ name, logo }), ...(Object.keys(schemes).length === 0 ? {} : { colours: schemes }) };
  return Object.keys(page).length === 0 ? undefined : page;
}
