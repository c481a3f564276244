/** What steers a terminal, or turns the order of what it shows around. */
const CONTROL = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** A text from elsewhere as one line for a terminal: what would steer it is shown, not obeyed. */
export function plain(text: string): string {
  return text.replace(CONTROL, '\ufffd');
}

/** The same of a text of several lines, which keeps these and its tabs. */
export function plainLines(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(CONTROL, (it) => (it === '\n' || it === '\t' ? it : '\ufffd'));
}
