import { isRecord } from '../../lib/parsed.js';

/**
 * Applies a merge patch (RFC 7396): what it names is put in the place of what was there, null takes away, objects are merged
 * member by member, lists are replaced as a whole. Neither value is changed.
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const merged = new Map(isRecord(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}
