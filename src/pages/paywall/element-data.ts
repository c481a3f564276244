import { defined } from '../../lib/defined.js';
import {
  buysInWords,
  factsOf,
  headingOf,
  outageInWords,
  type PaywallContent,
  pageOffer,
  paywallDataOf,
  problemInWords,
} from './paywall-content.js';
import type { ElementData } from './paywall-data.js';

/** The terms of a gate for an element in a site's own page, which shows what the page of the gate shows. */
export function elementDataOf(content: PaywallContent): ElementData {
  const { texts, offers, note } = content;
  return {
    ...paywallDataOf(content),
    heading: headingOf(content),
    offers: offers.map((it) => ({ ...pageOffer(it, content), buys: buysInWords(it, texts) })),
    facts: factsOf(content),
    choose: texts.choose,
    ...defined({ note, detail: problemInWords(content) ?? outageInWords(content) }),
  };
}
