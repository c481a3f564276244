import type { FieldFault } from '../../errors/errors.js';

/**
 * What is wrong with a field of a project.
 * @param pointer - JSON pointer of the field
 */
export function fieldFault(pointer: string, detail: string): FieldFault {
  return { pointer, code: 'custom', detail };
}
