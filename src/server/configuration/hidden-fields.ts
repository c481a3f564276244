import { inspect } from 'node:util';

const HIDDEN = '[hidden]';

/**
 * An object some of whose fields are not shown when it is printed, inspected or turned to JSON. They are there for whoever
 * asks for them by name; a copy of the object shows everything again.
 */
export function withHidden<T extends object>(object: T, fields: readonly (keyof T)[]): T {
  const shown = (): object => {
    const entries = Object.entries(object).map(([name, value]) => [
      name,
      value !== undefined && fields.some((it) => it === name) ? HIDDEN : value,
    ]);
    return Object.fromEntries(entries);
  };
  return Object.defineProperties(object, { [inspect.custom]: { value: shown }, toJSON: { value: shown } });
}
