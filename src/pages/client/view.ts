/** The parts of the page that change. */
export interface View {
  /** Says how things stand; an empty text says nothing. */
  say(text: string): void;
  /** Puts what can be done now in the place of what could be done before. */
  offer(...actions: readonly HTMLElement[]): void;
}

/** A text with words put in the place of their names in braces. */
export function filled(text: string, words: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => words[name] ?? whole);
}

/** The view of the elements of a page, or of what stands in one. */
export function pageView(place: NonElementParentNode & DocumentOrShadowRoot = document): View {
  const action = place.getElementById('action');
  const status = place.getElementById('status');
  /** Whether what had the focus was taken away: it goes to what comes in its place, unless its reader has taken it elsewhere. */
  let isFocusLost = false;
  return {
    say(text) {
      if (status !== null) status.textContent = text;
    },
    offer(...actions) {
      const focused = place.activeElement;
      isFocusLost = (focused !== null && action?.contains(focused) === true) || (isFocusLost && isNowhere(focused));
      action?.replaceChildren(...actions);
      if (!isFocusLost || actions.length === 0) return;
      isFocusLost = false;
      actions[0]?.focus();
    },
  };
}

function isNowhere(focused: Element | null): boolean {
  return focused === null || focused === document.body;
}

/** The number of the offer that is chosen in a place; the first where there is no choice. */
export function chosenIn(place: ParentNode): number {
  return Number(place.querySelector<HTMLInputElement>('input[name=offer]:checked')?.value ?? 0);
}

/** A button. */
export function button(text: string, press: () => void, { icon, isPlain = false }: ButtonLook = {}): HTMLButtonElement {
  const element = document.createElement('button');
  element.type = 'button';
  if (isPlain) element.className = 'plain';
  if (icon?.startsWith('data:image/')) element.append(image(icon));
  element.append(text);
  element.addEventListener('click', press);
  return element;
}

interface ButtonLook {
  /** A `data:` address. */
  readonly icon?: string;
  readonly isPlain?: boolean;
}

/** A link that looks like a button. */
export function linkButton(text: string, href: string): HTMLAnchorElement {
  const element = document.createElement('a');
  element.className = 'button plain';
  element.href = href;
  element.rel = 'noreferrer';
  element.textContent = text;
  return element;
}

function image(address: string): HTMLImageElement {
  const element = document.createElement('img');
  element.className = 'icon';
  element.alt = '';
  element.src = address;
  return element;
}
