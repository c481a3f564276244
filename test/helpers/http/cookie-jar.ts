/** Asks like a browser that keeps cookies as RFC 6265bis says, for one host. */
export interface CookieJar {
  /** Asks for a path of the host, with the cookies that are for it. */
  get(path: string, init?: RequestInit): Promise<Response>;
  /** What it has, by name, each with its path. */
  cookies(): Readonly<Record<string, string>>;
}

interface Kept {
  readonly name: string;
  readonly value: string;
  readonly path: string;
}

/**
 * Opens an empty one.
 * @param url - where the server listens
 * @param site - the address in its address bar. Default: the same
 */
export function openCookieJar(url: string, site = url): CookieJar {
  const jar = new Map<string, Kept>();
  const isSecure = site.startsWith('https:');

  function keep(text: string): void {
    const [pair = '', ...rest] = text.split('; ');
    const attributes = new Map(rest.map((it) => [it.split('=', 1)[0] ?? '', it.slice(it.indexOf('=') + 1)] as const));
    const at = pair.indexOf('=');
    const cookie = { name: pair.slice(0, at), value: pair.slice(at + 1), path: attributes.get('Path') ?? '/' };
    const isKept =
      (!attributes.has('Secure') || isSecure) &&
      (!cookie.name.startsWith('__Secure-') || attributes.has('Secure')) &&
      (!cookie.name.startsWith('__Host-') || (attributes.has('Secure') && cookie.path === '/'));
    if (!isKept) return;
    const key = `${cookie.name} ${cookie.path}`;
    if (Number(attributes.get('Max-Age') ?? 1) > 0) jar.set(key, cookie);
    else jar.delete(key);
  }

  return {
    async get(path, init = {}) {
      const sent = [...jar.values()].filter((it) => covers(it.path, path.split('?', 1)[0] ?? ''));
      const cookie = sent.map(({ name, value }) => `${name}=${value}`).join('; ');
      const headers = { ...init.headers, ...(cookie === '' ? {} : { cookie }) };
      const answer = await fetch(`${url}${path}`, { ...init, headers });
      answer.headers.getSetCookie().forEach(keep);
      return answer;
    },
    cookies: () => Object.fromEntries([...jar.values()].map(({ name, path }) => [name, path])),
  };
}

/** RFC 6265 §5.1.4. */
function covers(cookiePath: string, path: string): boolean {
  return (
    path === cookiePath ||
    (path.startsWith(cookiePath) && (cookiePath.endsWith('/') || path[cookiePath.length] === '/'))
  );
}
