import { defined } from '../../lib/defined.js';
import { factsOf, headingOf, type PaywallContent, paywallDataOf } from './paywall-content.js';
import type { ElementData } from './paywall-data.js';

/** The terms of a gate for an element in a site's own page, which shows what the page of the gate shows. */
export function elementDataOf(content: PaywallContent): ElementData {
  const { texts, offers, note, problem } = content;
  const data = paywallDataOf(content);
  return {
    ...data,
    heading: headingOf(content),
    offers: data.offers.map((offer, at) => ({ ...offer, buys: offers[at]?.buys ?? texts.oneRequest })),
    facts: factsOf(content),
    choose: texts.choose,
    ...defined({ note, detail: problem?.detail }),
  };
}
