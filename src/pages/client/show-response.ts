/** What is said of the parts of a response. */
export interface ResponseTexts {
  readonly status: string;
  readonly headers: string;
  readonly body: string;
  readonly cut: string;
}

const MAX_LENGTH = 200_000;

/** Makes an element with a text. */
export function textElement(tag: string, content: string): HTMLElement {
  const element = document.createElement(tag);
  element.textContent = content;
  return element;
}

/** Shows the status, the headers and the body of a response, as it comes: some never end. */
export async function showResponse(response: Response, place: Element, texts: ResponseTexts): Promise<void> {
  const fields = [...response.headers].map(([name, value]) => `${name}: ${value}`);
  const body = textElement('pre', '');
  body.tabIndex = 0;
  place.replaceChildren(
    textElement('h3', `${texts.status}: ${response.status}`),
    textElement('h3', texts.headers),
    textElement('pre', fields.join('\n')),
    textElement('h3', texts.body),
    body,
  );
  const isWhole = await showBody(response, body);
  if (!isWhole) place.append(textElement('p', texts.cut));
  else if (/json/.test(response.headers.get('Content-Type') ?? '')) body.textContent = indented(body.textContent);
}

/** Whether all of it was shown. */
async function showBody(response: Response, place: Element): Promise<boolean> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let length = 0;
  for (;;) {
    const { done, value = '' } = (await reader?.read()) ?? { done: true };
    if (done) return true;
    length += value.length;
    place.append(value);
    if (length > MAX_LENGTH) {
      await reader?.cancel();
      return false;
    }
  }
}

function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
