/** By folder, name and conditions: the files of a worker ask for the same modules. */
const found = new Map();

/** Jest's resolver, asked once for each module. */
module.exports = (name, options) => {
  const key = [options.basedir, name, ...(options.conditions ?? [])].join('\0');
  if (!found.has(key)) found.set(key, options.defaultResolver(name, options));
  return found.get(key);
};
