/**
 * Lets an object be put into JSON although amounts in it are bigints, which `JSON.stringify` refuses: they become decimal digits
 * there, also those of lists and plain objects inside. The method that does it is no enumerable property, so that the object is
 * compared, spread and cloned as the plain one that it is; a copy has its fields and not this.
 * @param fields - a new object, which is answered
 */
export function withAmountJson<Fields extends object>(fields: Fields): Fields {
  return Object.defineProperty(fields, 'toJSON', TO_JSON);
}

const TO_JSON = {
  value(this: object): unknown {
    return fieldsJson(this);
  },
};

function fieldsJson(fields: object): unknown {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, jsonOf(value)]));
}

function jsonOf(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return value.map(jsonOf);
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return 'toJSON' in value ? value : fieldsJson(value);
}
