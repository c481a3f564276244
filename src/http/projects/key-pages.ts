import type { Request, Response } from 'express';
import { costOf } from '../../gateway/prices/offered-routes.js';
import { absoluteUrl, mountAddress, requestTarget } from '../../middleware/gate/request-url.js';
import { keyPage } from '../../pages/market/key-page.js';
import type { ProjectRecord } from '../../storage/projects/projects.js';
import { showProblemPage } from '../framework/problem-pages.js';
import type { ShellFor } from '../framework/service-pages.js';
import { callPriceView } from './price-views.js';
import { callUrl } from './views.js';

/** What {@link keyPages} works with. */
export interface KeyPagesParts {
  readonly shellFor: ShellFor;
  /** Address under which clients reach this server. Default: from the request. */
  readonly baseUrl: string | undefined;
}

/** Shows browsers that open a project without a service key what it is, what their call costs, and how a key is had. */
export function keyPages({ shellFor, baseUrl }: KeyPagesParts) {
  return (req: Request, res: Response, project: ProjectRecord): void => {
    const { method } = req;
    const rest = requestTarget(req).slice(req.baseUrl.length);
    showProblemPage(req, res, (code) => {
      if (code !== 'unauthenticated') return undefined;
      const { slug, name, visibility, freeCalls = null } = project;
      const isListed = visibility === 'listed';
      const server = mountAddress(req, baseUrl);
      const at = costOf(project, method, rest);
      return keyPage(shellFor(req), {
        ...{ slug, name, isListed, free_calls: freeCalls },
        // It is written for the marketplace.
        description: (isListed && project.description) || null,
        status: project.upstreamDownSince === undefined ? 'active' : 'down',
        call: {
          method,
          // What is not for sale, or could be two calls, has no price: the project has.
          url: at === undefined ? callUrl(server, slug) : absoluteUrl(req, baseUrl),
          pricing: at?.isFree ? null : callPriceView((at?.project ?? project).price),
        },
        server,
      });
    });
  };
}
