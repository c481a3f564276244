import { lowestPrice } from '../../storage/projects/project-rows.js';
import type { ProjectSettings } from '../../storage/projects/projects.js';

/** The lowest and the highest of what calls cost, in atomic units of the token of the project's own price. */
export interface PriceRange {
  readonly from: bigint;
  readonly to: bigint;
}

/** Between what the prices of a project lie. What is free is none of them, and what is paid in another token only. */
export function priceRange(project: Pick<ProjectSettings, 'price' | 'routes'>): PriceRange {
  const { price, routes = [] } = project;
  let to = price.amount;
  for (const { price: its } of routes) {
    if (its?.token.mint === price.token.mint && its.amount > to) to = its.amount;
  }
  return { from: lowestPrice(project), to };
}
