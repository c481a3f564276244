import { type Markup, markup } from '../layout/markup.js';
import type { ServiceTexts } from '../texts/service/service-texts.js';
import type { ApiOperation } from './api-document.js';
import { schemaSample } from './schema-sample.js';

type Parameter = ApiOperation['parameters'][number];

/** The form with which an operation is tried out; the script of the page shows it, as it does nothing by itself. */
export function tryForm(texts: ServiceTexts, path: string, method: string, operation: ApiOperation): Markup {
  const { parameters, requestBody, servers } = operation;
  const [server] = servers;
  const at = server === undefined ? undefined : markup` data-server="${server.url}"`;
  const [type, body] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  return markup`<form class="try" data-method="${method.toUpperCase()}" data-path="${path}"${at} hidden>
<h3>${texts.tryOut}</h3>
${parameters.map((it) => parameterField(texts, it))}
${type === undefined ? undefined : bodyField(texts, type, body?.schema && schemaSample(body.schema))}
<button>${texts.send}</button>
<div class="answer" role="status"></div>
</form>`;
}

function parameterField({ required: must }: ServiceTexts, { name, in: place, required, schema }: Parameter): Markup {
  const needed = required ? markup` required` : undefined;
  const choices = schema?.enum?.map((it) => markup`<option>${String(it)}</option>`);
  const field =
    choices === undefined
      ? markup`<input name="${name}" data-in="${place}" autocomplete="off" spellcheck="false"${needed}>`
      : markup`<select name="${name}" data-in="${place}"><option></option>${choices}</select>`;
  return markup`<label><span><code>${name}</code>${required ? ` (${must})` : ''}</span>${field}</label>
`;
}

function bodyField({ body }: ServiceTexts, type: string, sample: unknown): Markup {
  return markup`<label><span>${body} <code>${type}</code></span><textarea data-in="body" data-type="${type}" rows="6" spellcheck="false" autocomplete="off">${JSON.stringify(sample, null, 2)}</textarea></label>
`;
}
