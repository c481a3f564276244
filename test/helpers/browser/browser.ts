import { existsSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { defined } from '../../../src/lib/defined.js';

/** The first has no windows at all, and takes half the time for the same pages. */
const CHROMIUMS = ['chromium-headless-shell', 'chromium'];
const CHROMIUM = CHROMIUMS.map((name) => `/usr/bin/${name}`).find((path) => existsSync(path));

/** Whether there is a browser to open pages in. */
export const HAS_BROWSER = CHROMIUM !== undefined;

/** For titles: why a test in a browser is skipped. */
export const WHY_NOT = HAS_BROWSER ? '' : ` (skipped: install the package ${CHROMIUMS.join(' or ')})`;

/** What a page's script has of a response, or why it has none. */
export type PageAnswer =
  | { readonly status: number; readonly headers: [string, string][]; readonly body: string }
  | { readonly refused: string };

/** A real browser without a window. It asks nobody but those that its pages ask. */
export async function openBrowser(): Promise<Browser> {
  const { chromium } = await import('playwright-core');
  return chromium.launch({
    ...defined({ executablePath: CHROMIUM }),
    args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--no-first-run'],
  });
}

/** A request by a script of a page, with all that its browser does about it: preflights, cookies, what may be read. */
export function askFromPage(page: Page, url: string, init: RequestInit = {}): Promise<PageAnswer> {
  const { method, credentials, body, headers } = init;
  const sent = { method, credentials, body: body as string | null | undefined, headers: [...new Headers(headers)] };
  return page.evaluate(
    async ({ url, sent }) => {
      try {
        const answer = await fetch(url, sent as RequestInit);
        return { status: answer.status, headers: [...answer.headers], body: await answer.text() };
      } catch (error) {
        return { refused: String(error) };
      }
    },
    { url, sent },
  );
}

/** `fetch` of a page, for clients that take one: what the browser does not let the page read, they do not see. */
export function fetchOfPage(page: Page): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const text = await request.text();
    const { method, headers } = request;
    const answer = await askFromPage(page, request.url, { method, headers, ...(text === '' ? {} : { body: text }) });
    if ('refused' in answer) throw new TypeError(answer.refused);
    return new Response(answer.body, answer);
  };
}
