import { defined } from '../../lib/defined.js';
import {
  buysInWords,
  factsOf,
  headingOf,
  outageInWords,
  type PaywallContent,
  paywallDataOf,
} from './paywall-content.js';
import type { ElementData } from './paywall-data.js';

/** The terms of a gate for an element in a site's own page, which shows what the page of the gate shows. */
export function elementDataOf(content: PaywallContent): ElementData {
  const { texts, offers, note, problem } = content;
  const data = paywallDataOf(content);
  return {
    ...data,
    heading: headingOf(content),
    offers: offers.map((offer, at) => ({ ...offer, ...data.offers[at], buys: buysInWords(offer, texts) })),
    facts: factsOf(content),
    choose: texts.choose,
    ...defined({ note, detail: problem?.detail ?? outageInWords(content) }),
  };
}
