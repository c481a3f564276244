/** Schemes for which browsers ask their user for a password, or sign in by themselves, in the name of the origin. */
const ASKED_BY_BROWSERS: ReadonlySet<string> = new Set(['basic', 'digest', 'kerberos', 'negotiate', 'ntlm']);

/** Parts between commas, with commas in quoted texts; what has a quote that does not end is read to the end. */
const PARTS = /(?:[^,"]|"(?:[^"\\]|\\.)*(?:"|$))+/g;
/** Where a challenge begins: a scheme, alone or before what belongs to it, and not the name of a parameter (RFC 9110 §11.6.1). */
const SCHEME = /^([^\s=,"]+)(?:\s+(?![\s=])|$)/;
/** What is read as a challenge by those who take a quoted comma for one between challenges. */
const INSIDE = /,\s*([^\s=,"]+)/g;

/**
 * The challenges of a `WWW-Authenticate` line without those that browsers would answer with a dialog of their own: it would stand in the
 * name of the gateway, and what is typed there goes to one upstream. Undefined where none is left.
 */
export function withoutDialogs(value: string): string | undefined {
  const challenges: string[] = [];
  for (const part of value.match(PARTS) ?? []) {
    const text = part.trim();
    const last = challenges.length - 1;
    if (SCHEME.test(text)) challenges.push(text);
    else if (text !== '' && last >= 0) challenges[last] += `, ${text}`;
  }
  const kept = challenges.filter((it) => !opensDialog(it));
  return kept.length === 0 ? undefined : kept.join(', ');
}

function opensDialog(challenge: string): boolean {
  const [, scheme = ''] = SCHEME.exec(challenge) ?? [];
  const inside = [...challenge.matchAll(INSIDE)].map(([, it = '']) => it);
  return [scheme, ...inside].some((it) => ASKED_BY_BROWSERS.has(it.toLowerCase()));
}
