import { groupBy } from '../../lib/group-by.js';
import { DOCS_SCRIPT } from '../client-scripts.js';
import { type Markup, markup } from '../layout/markup.js';
import type { RenderedPage } from '../layout/page.js';
import { type ServiceShell, servicePage } from '../service/service-page.js';
import type { ServiceTexts } from '../texts/service/service-texts.js';
import { type ApiDocument, credentialHeadersOf, infoOf, operationsOf, schemasOf } from './api-document.js';
import type { DocsData } from './docs-data.js';
import { DOCS_STYLE } from './docs-style.js';
import { operationSection, schemaBlock, withCode } from './operation-section.js';

/** The API of the service, to be read and to be tried out. It is in English, but for what stands around it. */
export function docsPage(shell: ServiceShell, document: ApiDocument): RenderedPage {
  const { texts, base, places } = shell;
  const { version, description } = infoOf(document);
  const operations = operationsOf(document);
  const headers = credentialHeadersOf(document);
  const byTag = groupBy(operations, ({ operation }) => operation.tags[0] ?? '');
  const sections = [...byTag].map(
    ([tag, some]) => markup`<section class="card" id="${idOf(tag)}" lang="en"><h2>${tag}</h2>
${some.map((it) => operationSection(texts, it, headers))}</section>
`,
  );
  const data: DocsData = { base, texts: textsOf(texts) };
  return servicePage(shell, {
    title: texts.docs,
    ...(places.docs === undefined ? {} : { place: 'docs' }),
    content: markup`<h1>${texts.docs} <span class="soft small">${version}</span></h1>
<p class="soft" lang="en">${withCode(description)} <a href="${base}/openapi.json">openapi.json</a></p>
<nav aria-label="${texts.docs}"><ul class="tags">${[...byTag.keys()].map((tag) => markup`<li><a class="tag" href="#${idOf(tag)}">${tag}</a></li>`)}</ul></nav>
${credentials(texts)}
${sections}
${Object.entries(schemasOf(document)).map(([name, schema]) => markup`<section class="card" lang="en"><h2>${name}</h2>${schemaBlock(texts, schema)}</section>`)}`,
    ...{ style: DOCS_STYLE, script: DOCS_SCRIPT, data },
  });
}

function idOf(tag: string): string {
  return `tag-${tag.replace(/\W+/g, '-')}`;
}

function credentials(texts: ServiceTexts): Markup {
  const field = (name: string, label: string) =>
    markup`<label>${label}<input data-credential="${name}" type="password" autocomplete="off" spellcheck="false"></label>
`;
  return markup`<section class="card" id="credentials" hidden><h2>${texts.credentials}</h2>
<div class="fields">${field('Authorization', texts.accessToken)}${field('X-Service-Key', texts.serviceKey)}${field('X-Service-Secret', texts.serviceSecret)}</div>
<p class="soft small">${texts.credentialsNote}</p></section>`;
}

function textsOf({ status, headers, body, sending, noAnswer, cut }: ServiceTexts): DocsData['texts'] {
  return { status, headers, body, sending, noAnswer, cut };
}
