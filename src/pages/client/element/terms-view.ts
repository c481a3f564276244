import type { ElementData, ElementOffer, PageFact } from '../../paywall/paywall-data.js';

/** The terms of a gate as elements: texts of others become texts, whatever is in them. */
export function termsView(data: ElementData): HTMLElement {
  const { heading, detail, note, facts } = data;
  const action = element('div', 'action');
  action.setAttribute('role', 'group');
  const status = element('p', 'status');
  status.setAttribute('role', 'status');
  const card = element('div', 'terms', 'card');
  card.setAttribute('role', 'group');
  card.part.add('card');
  card.setAttribute('aria-label', heading);
  card.append(
    text('p', heading, 'heading'),
    ...(detail === undefined ? [] : [text('p', detail, 'problem')]),
    ...offersView(data),
    ...(note === undefined ? [] : [text('p', note, 'soft small')]),
    ...factsView(facts),
    ...[status, action],
  );
  return card;
}

function offersView({ offers, choose }: ElementData): readonly HTMLElement[] {
  const [only] = offers;
  if (only === undefined) return [];
  if (offers.length === 1) {
    const line = element('p');
    line.append(...wordsOf(only));
    return [line];
  }
  const choice = element('fieldset');
  choice.append(text('legend', choose), ...offers.map(offerView));
  return [choice];
}

function offerView(offer: ElementOffer, at: number): HTMLElement {
  const input = document.createElement('input');
  input.type = 'radio';
  input.name = 'offer';
  input.value = String(at);
  input.checked = at === 0;
  const words = element('span');
  words.append(...wordsOf(offer));
  const label = element('label', '', 'offer');
  label.append(input, words);
  return label;
}

function wordsOf({ price, buys }: ElementOffer): readonly (HTMLElement | string)[] {
  return [text('strong', price, 'price'), ' ', text('span', buys, 'soft')];
}

function factsView(facts: readonly PageFact[]): readonly HTMLElement[] {
  if (facts.length === 0) return [];
  const list = element('dl');
  for (const { name, value, title = '' } of facts) {
    const described = text('dd', value);
    described.title = title;
    list.append(text('dt', name), described);
  }
  return [list];
}

function text(tag: string, content: string, className = ''): HTMLElement {
  const made = element(tag, '', className);
  made.textContent = content;
  return made;
}

function element(tag: string, id = '', className = ''): HTMLElement {
  const made = document.createElement(tag);
  if (id !== '') made.id = id;
  if (className !== '') made.className = className;
  return made;
}
