import { readFileSync } from 'node:fs';

/** One instruction of a Dockerfile: `COPY`, and what stands after it, on one line. */
export interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** One stage of a Dockerfile: what it is called (its number where it has no name), and its instructions after `FROM`. */
export interface Stage {
  readonly name: string;
  readonly instructions: readonly Instruction[];
}

/** What a Dockerfile says, stage by stage. */
export function readDockerfile(path: string): readonly Stage[] {
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .join('\n')
    .replace(/\\\n\s*/g, '')
    .split('\n');
  const stages: { name: string; instructions: Instruction[] }[] = [];
  for (const line of lines) {
    const [, name = '', text = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    if (name === '') throw new Error(`${path}: "${line}" is no instruction`);
    if (name === 'FROM') stages.push({ name: / AS (\w+)$/.exec(text)?.[1] ?? `${stages.length}`, instructions: [] });
    else stages.at(-1)?.instructions.push({ name, text });
  }
  return stages;
}

/** The command of `CMD` and of `HEALTHCHECK … CMD`, which are lists in JSON. */
export function commandOf({ instructions }: Stage, name: 'CMD' | 'HEALTHCHECK'): readonly string[] {
  const text = instructions.find((it) => it.name === name)?.text ?? '';
  return JSON.parse(text.slice(text.indexOf('["')));
}

/** Whether a path of the context is sent to the builder, by a `.dockerignore`: of the rules that are about it the last counts. */
export function sentToBuilder(ignoreFile: string): (path: string) => boolean {
  const rules = readFileSync(ignoreFile, 'utf8').trim().split('\n');
  return (path) => {
    const isAbout = (rule: string): boolean => rule === '*' || path === rule || path.startsWith(`${rule}/`);
    const last = rules.findLast((rule) => isAbout(rule.replace(/^!/, '')));
    return last === undefined || last.startsWith('!');
  };
}
