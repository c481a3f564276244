import { groupBy } from '../../lib/group-by.js';
import { type Markup, markup } from '../layout/markup.js';
import type { ServiceTexts } from '../texts/service/service-texts.js';
import type { ApiOperation, PlacedOperation, ShownSchema } from './api-document.js';
import { schemaText } from './schema-text.js';
import { tryForm } from './try-form.js';

/** The headers that credentials go into, by the names that operations ask for them. */
type CredentialHeaders = Readonly<Record<string, string>>;

const rendered = new WeakMap<ServiceTexts, WeakMap<ApiOperation, Markup>>();

/** One operation of the API, to be opened. It is rendered once in each language. */
export function operationSection(texts: ServiceTexts, placed: PlacedOperation, headers: CredentialHeaders): Markup {
  const known = rendered.get(texts) ?? new WeakMap<ApiOperation, Markup>();
  rendered.set(texts, known);
  const section = known.get(placed.operation) ?? renderOperation(texts, placed, headers);
  known.set(placed.operation, section);
  return section;
}

function renderOperation(
  texts: ServiceTexts,
  { path, method, operation }: PlacedOperation,
  headers: CredentialHeaders,
): Markup {
  const { operationId, summary, description, requestBody, parameters } = operation;
  const body = Object.values(requestBody?.content ?? {})[0]?.schema;
  return markup`<details class="operation" id="${operationId ?? `${method} ${path}`}">
<summary><span class="method ${method}">${method.toUpperCase()}</span> <code>${path}</code> <span class="soft">${summary}</span></summary>
<div class="inside">${description === undefined ? undefined : markup`<p>${withCode(description)}</p>`}
${credentialList(texts, operation, headers)}
${parameters.length === 0 ? undefined : parameterList(texts, operation)}
${body === undefined ? undefined : markup`<h3>${texts.body}</h3>${schemaBlock(texts, body)}`}
<h3>${texts.responses}</h3>
${responseList(texts, operation)}
${tryForm(texts, path, method, operation)}
</div></details>
`;
}

/** Text in which what stands in backticks is code. */
export function withCode(text: string): Markup {
  const parts = text.split('`');
  return markup`${parts.map((part, at) => (at % 2 === 1 ? markup`<code>${part}</code>` : part))}`;
}

/** A schema, as text that can be scrolled by keys as well. */
export function schemaBlock({ schema: label }: ServiceTexts, schema: ShownSchema): Markup {
  return markup`<pre tabindex="0" role="group" aria-label="${label}">${schemaText(schema)}</pre>`;
}

/** What a request shows, one way a line. */
function credentialList(
  texts: ServiceTexts,
  { security }: ApiOperation,
  headers: CredentialHeaders,
): Markup | undefined {
  const ways = security.map((it) => Object.entries(it)).filter((it) => it.length > 0);
  if (ways.length === 0) return undefined;
  const rows = ways.map((way) => {
    const names = way.map(([id], at) => markup`${at === 0 ? '' : ' + '}<code>${headers[id] ?? id}</code>`);
    const scopes = way.flatMap(([, some]) => some).join(', ');
    return markup`<dd>${names} <span class="soft">${scopes}</span></dd>
`;
  });
  return markup`<dl class="credentials"><dt>${texts.credentials}</dt>${rows}</dl>`;
}

function parameterList(texts: ServiceTexts, { parameters }: ApiOperation): Markup {
  const rows = parameters.map(({ name, in: place, required, description = '', schema }) => {
    const type = schema === undefined ? 'string' : schemaText({ ...schema, description: undefined });
    const must = required ? markup` <strong>${texts.required}</strong>` : undefined;
    return markup`<dt><code>${name}</code> <span class="soft">${place}</span></dt><dd><code>${type}</code>${must} ${withCode(description)}</dd>
`;
  });
  return markup`<h3>${texts.parameters}</h3><dl>${rows}</dl>`;
}

function responseList(texts: ServiceTexts, { responses }: ApiOperation): Markup {
  const byKind = groupBy(Object.entries(responses), ([status]) => (Number(status) < 400 ? 'good' : 'bad'));
  const good = (byKind.get('good') ?? []).map(([status, { description, content = {} }]) => {
    const schemas = Object.entries(content).map(([type, { schema }]) => {
      const block = schema === undefined || type === 'text/html' ? undefined : schemaBlock(texts, schema);
      return markup`<p class="soft small">${type}</p>${block}`;
    });
    return markup`<p><strong>${status}</strong> ${withCode(description)}</p>${schemas}`;
  });
  const bad = (byKind.get('bad') ?? []).map(
    ([status, { description }]) => markup`<dt><strong>${status}</strong></dt><dd>${withCode(description)}</dd>
`,
  );
  return markup`${good}<dl class="small">${bad}</dl>`;
}
