import { z } from 'zod';
import { defined } from '../../lib/defined.js';
import type { PageTexts, PaywallStateTexts } from '../texts/page-texts.js';
import type { ReasonTexts, RefusalTexts } from '../texts/refusals/refusal-texts.js';
import type { ServiceTexts } from '../texts/service/service-texts.js';
import { contrastOf, READABLE, writingOn } from './contrast.js';
import type { RenderPaywall } from './own-page.js';
import type { PageBrand } from './page-brand.js';
import { DARK, LIGHT, type PageColours } from './page-colours.js';

/** How pages for people look, and what they say. */
export interface PageOptions {
  /** Name of the site, above what is sold. Default: none. */
  readonly name?: string | undefined;
  /** Image beside it: a path of the same site, such as `/logo.svg`, or a `data:image/…` address. Default: none. */
  readonly logo?: string | undefined;
  /**
   * Colours by day and by night, each as `#rrggbb`. Default: ours; of `on-accent`, one that is read on `accent`. An `on-accent` with less
   * contrast than 4.5:1 on its accent is refused.
   */
  readonly colours?:
    | {
        readonly light?: Partial<PageColours> | undefined;
        readonly dark?: Partial<PageColours> | undefined;
      }
    | undefined;
  /**
   * Texts in place of ours, by language as in BCP 47: `{ fr: { hasPrice: 'Cet article a un prix' }, pt: { … } }`. Of a language
   * that is not ours, what is left out is said in English. Default: English, German, Spanish, French, Chinese and Japanese, as the reader's
   * browser asks for.
   */
  readonly texts?: Readonly<Record<string, OwnTexts>> | undefined;
  /**
   * Writes the page that a gate sends in the place of ours: `({ card, style, script }) => '<!doctype html>…'`. Status and headers stay, the
   * policy too unless the function answers another. Where it throws, or answers no HTML, ours is sent and a warning says so. Pages
   * of the mounted service are not written by it. Default: ours.
   */
  readonly render?: RenderPaywall | undefined;
}

/** Texts of a page in somebody's own words. */
export type OwnTexts = Partial<Omit<PageTexts, 'language' | 'refusals' | 'reasons' | 'state'>> & {
  readonly refusals?: Partial<RefusalTexts>;
  readonly reasons?: Partial<ReasonTexts>;
  readonly state?: Partial<PaywallStateTexts>;
  /** Of the service's own pages. */
  readonly service?: Partial<Omit<ServiceTexts, 'language'>>;
};

const COLOUR = 'a colour such as #4a32c9';
const colour = z.string(COLOUR).regex(/^#[\da-f]{6}$/i, COLOUR);
/** By their names. */
const pageColours = z.strictObject(Object.fromEntries(Object.keys(LIGHT).map((name) => [name, colour.optional()])));
/** Some colours of a page; what is written on its buttons has to be read there. */
export const coloursOn = (ours: PageColours) =>
  pageColours.superRefine((it, context) => {
    const { accent = ours.accent, 'on-accent': written } = it;
    if (written === undefined) return;
    const contrast = contrastOf(accent, written);
    if (contrast >= READABLE) return;
    const message = `a colour that is read on the accent ${accent}: ${written} has a contrast of ${contrast.toFixed(2)}, and 4.5 is the least; leave it out, and one is chosen`;
    context.addIssue({ code: 'custom', path: ['on-accent'], message });
  });
const LOGO =
  'a path of the same site such as "/logo.svg", or an image as a data: address of at most 100,000 characters';
const MAX_LANGUAGES = 50;
const ownText = z.string('a text').max(1_000, 'at most 1,000 characters');

/** Schema of {@link PageOptions}. */
export const pageOptions = z.strictObject(
  {
    name: z.string('a text').min(1, 'a text').max(100, 'at most 100 characters').optional(),
    logo: z
      .string(LOGO)
      .max(100_000, LOGO)
      .regex(/^(?:\/(?![/\\])[^\s"'<>]*|data:image\/[^\s"'<>]+)$/, LOGO)
      .optional(),
    colours: z.strictObject({ light: coloursOn(LIGHT).optional(), dark: coloursOn(DARK).optional() }).optional(),
    texts: z
      .record(
        z.string().regex(/^[a-z]{2,3}(?:-[a-z\d]{2,8})*$/i, 'a language such as "pt"'),
        z.record(z.string(), z.union([ownText, z.record(z.string(), ownText)])),
        'texts by language',
      )
      .refine((it) => Object.keys(it).length <= MAX_LANGUAGES, `at most ${MAX_LANGUAGES} languages`)
      .optional(),
    render: z
      .custom<RenderPaywall>((it) => typeof it === 'function', 'a function of the terms that answers HTML')
      .optional(),
  },
  'an object of name, logo, colours, texts and render',
);

/** {@link PageOptions} as they were read. */
export type ResolvedPageOptions = z.output<typeof pageOptions>;

/** Whose pages they are that these options are for. */
export function brandOf({ name, logo, colours }: ResolvedPageOptions): PageBrand {
  return {
    ...{ name, logo },
    light: withWriting(LIGHT, colours?.light),
    dark: withWriting(DARK, colours?.dark),
  };
}

function withWriting(ours: PageColours, own: Readonly<Partial<Record<string, string>>> = {}): PageColours {
  const colours = { ...ours, ...defined(own) };
  return { ...colours, 'on-accent': own['on-accent'] ?? writingOn(colours.accent, ours['on-accent']) };
}
