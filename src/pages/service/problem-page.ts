import type { ErrorCode } from '../../errors/errors.js';
import { markup } from '../layout/markup.js';
import type { RenderedPage } from '../layout/page.js';
import { type ServiceShell, servicePage } from './service-page.js';

/** The page of an address where nothing is, and where to go instead. */
export function notFoundPage(shell: ServiceShell): RenderedPage {
  const { texts, places } = shell;
  const links = (['home', 'marketplace'] as const).map((it) =>
    places[it] === undefined ? undefined : markup`<li><a href="${places[it]}">${texts[it]}</a></li>`,
  );
  return servicePage(shell, {
    title: texts.notFound,
    content: markup`<h1>${texts.notFound}</h1>
<p class="soft">${texts.notFoundNote}</p>
<ul class="plain">${links}</ul>`,
  });
}

/** Codes of an API that is sold here, and answers nobody. */
const RESTING: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'project_paused',
  'project_suspended',
  'project_upstream_down',
]);

/** The page of what cannot be answered at the moment. */
export function outagePage(shell: ServiceShell, code: ErrorCode): RenderedPage {
  const { unavailable, tryLater, state } = shell.payTexts();
  return servicePage(shell, {
    title: unavailable,
    content: markup`<h1>${unavailable}</h1>
<p>${RESTING.has(code) ? shell.texts.resting : tryLater}</p>
<p class="soft small"><code>${code}</code></p>
<p><a href="">${state.tryAgain}</a></p>`,
  });
}
