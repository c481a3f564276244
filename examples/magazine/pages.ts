import type { Article } from './articles.js';

const SIGNS = { free: 'free', day: '$0.25 a day', gold: 'gold members' };
const STYLE = `<style>
:root { color-scheme: light dark; }
body { font: 1.1rem/1.6 Georgia, serif; max-width: 38rem; margin: 2rem auto; padding: 0 1rem; }
small { color: gray; } textarea { width: 100%; font: inherit; box-sizing: border-box; }
tollhouse-paywall { --tollhouse-accent: light-dark(#0a6b4f, #7fe0bd); --tollhouse-radius: 4px; }
</style>`;
const PLACES = { free: '/free', day: '/preview', gold: '/gold' };

/** Everything, with previews: it is free. */
export function frontPage(articles: readonly Article[]): string {
  const items = articles.map(
    ({ slug, title, preview, access }) =>
      `<article><h2><a href="${PLACES[access]}/${slug}">${title}</a> <small>${SIGNS[access]}</small></h2><p>${preview}</p></article>`,
  );
  return page(
    'The Magazine',
    `${items.join('\n')}
<article><h2><a href="/podcast">The podcast</a> <small>${SIGNS.day}</small></h2></article>
<article><h2>A letter to us</h2><form method="post" action="/letters">
<label>It costs ten cents, so that we read each of them.<textarea name="letter" rows="4" maxlength="2000" required></textarea></label>
<button>Send</button></form></article>`,
  );
}

export function articlePage({ title, preview, rest }: Article): string {
  return page(title, `<div id="article"><p>${preview}</p><p>${rest}</p></div>`);
}

/** How an article begins, for everybody; the rest is sold below it, and takes its place. Without JavaScript a link leads to it. */
export function previewPage({ slug, title, preview }: Article): string {
  return page(
    title,
    `<script type="module" src="/tollhouse.js"></script>
<tollhouse-paywall src="/day/${slug}" select="#article"><p>${preview}</p>
<noscript><p><a href="/day/${slug}">Read on</a></p></noscript></tollhouse-paywall>`,
  );
}

/** The player asks for parts of the file as it needs them: the day that opened this page has paid for them. */
export function podcastPage(): string {
  return page('The podcast', '<audio controls preload="metadata" src="/podcast.wav"></audio>');
}

export function thanksPage(letter: string): string {
  return page('Thank you', `<p>We have read this:</p><blockquote>${escaped(letter)}</blockquote>`);
}

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title>${STYLE}<h1>${title}</h1>
${body}
<p><a href="/">The Magazine</a></p>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
