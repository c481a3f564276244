import { type Quotas, quotaReached } from '../../storage/owners/quotas.js';
import type { CallPrice } from '../../storage/projects/call-price.js';
import type { ProjectOpenApi, ProjectSettings } from '../../storage/projects/projects.js';
import { callPrices } from '../prices/project-offers.js';

/** What of a wallet's quotas is about projects. */
export type ProjectQuotas = Pick<Quotas, 'projects' | 'projectBytes'>;

/** What an owner has written of a project. */
export type WrittenProject = readonly [settings: ProjectSettings, openapi: ProjectOpenApi];

/**
 * Refuses a project that is longer than projects may be. One that was longer before, when more was allowed, may become shorter
 * little by little.
 * @param most - bytes, see {@link Quotas.projectBytes}
 * @param before - what is changed; default: it is a new one
 * @throws TollhouseError `quota_reached`
 */
export function requireSize(written: WrittenProject, most: number, before?: WrittenProject): void {
  const bytes = bytesOf(written);
  if (bytes > most && (before === undefined || bytes > bytesOf(before))) throw quotaReached('projectBytes', most);
}

function bytesOf([{ price, ...settings }, openapi]: WrittenProject): number {
  const { slug, name, description, upstream, split, limits, visibility, allowed, tags, metadata, example } = settings;
  const written = { slug, name, description, upstream, split, limits, visibility, allowed, tags, metadata, example };
  const tokens = callPrices(price).map(({ token }) => token.mint);
  const { freeCalls } = settings;
  const routes = settings.routes?.map(({ price: asked, ...it }) => ({ ...it, asked: asked && amountsOf(asked) }));
  return Buffer.byteLength(JSON.stringify({ ...written, openapi, tokens, routes, freeCalls }));
}

function amountsOf(price: CallPrice) {
  return callPrices(price).map(({ amount, token }) => [String(amount), token.mint]);
}
