import type { CataloguedResource } from '../../protocol/wire/discovery.js';

const MAX_WORDS = 20;

/** The resources in which words of a query occur, those with most of them first. */
export function searchCatalogue(resources: readonly CataloguedResource[], query: string): CataloguedResource[] {
  const words = wordsOf(query);
  return resources
    .map((it) => ({ it, hits: countHits(textOf(it), words) }))
    .filter(({ hits }) => hits > 0)
    .sort((a, b) => b.hits - a.hits)
    .map(({ it }) => it);
}

function wordsOf(query: string): string[] {
  const words = query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(words)].slice(0, MAX_WORDS);
}

function textOf({ resource }: CataloguedResource): string {
  const { url, description, serviceName, tags = [] } = resource;
  return [url, description, serviceName, ...tags].join(' ').toLowerCase();
}

function countHits(text: string, words: readonly string[]): number {
  return words.filter((word) => text.includes(word)).length;
}
