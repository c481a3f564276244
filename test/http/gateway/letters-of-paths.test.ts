import { callRoute } from '../../../src/gateway/prices/call-route.js';
import type { ProjectRecord } from '../../../src/storage/projects/projects.js';
import { newProject } from '../../contracts/project-samples.js';

/** What a call costs, or the code with which it is refused. */
function costOf(rest: string, project: ProjectRecord): bigint | string {
  try {
    const { project: charged, isFree } = callRoute(project, { method: 'GET', rest });
    return isFree ? 0n : charged.price.amount;
  } catch (error) {
    return String(Reflect.get(Object(error), 'code'));
  }
}

/** What a letter can become by changes of capitals, of accents, and of how it is written, in any order. */
function formsOf(letter: string): readonly string[] {
  const forms = new Set([letter]);
  for (const form of forms) {
    // The simple mapping of Unicode has no dot.
    for (const it of [
      ...[form.toUpperCase(), form.toLowerCase(), form.normalize('NFKC'), form.replace('\u0130', 'i')],
      form.normalize('NFKD').replace(/\p{M}/gu, ''),
    ])
      forms.add(it);
  }
  return [...forms];
}

const COLLATION = new Intl.Collator('en', { sensitivity: 'base' });
const PLAIN = [...'abcdefghijklmnopqrstuvwxyz0123456789'];

/** Each letter of Unicode beyond ASCII. */
function* lettersOfUnicode(): Generator<string> {
  for (let code = 0x80; code <= 0x10ffff; code += 1) {
    const letter = String.fromCodePoint(code);
    if (!/[\p{Cs}\p{Cn}\p{Co}]/u.test(letter)) yield letter;
  }
}

/** Letters that are plain ones to who changes capitals or accents, or compares without them, each with what it is then. */
function disguises(): readonly (readonly [letter: string, plain: string])[] {
  return [...lettersOfUnicode()].flatMap((letter) => {
    const forms = formsOf(letter).filter((it) => /^[a-z\d]+$/i.test(it));
    const alike = PLAIN.filter((it) => COLLATION.compare(letter, it) === 0);
    return [...new Set([...forms, ...alike].map((it) => it.toLowerCase()))].map((plain) => [letter, plain] as const);
  });
}

const denying = (...paths: readonly string[]): ProjectRecord => ({
  ...newProject(),
  routes: [...paths.map((path) => ({ path, deny: 404 as const })), { path: '/**', free: true }],
});

test('no letter is another one to the gateway than to a server that changes or leaves out capitals and accents', () => {
  const letters = disguises();
  expect(letters.map(([letter]) => letter)).toEqual(
    expect.arrayContaining(['ı', 'İ', 'ſ', '\u212a', 'ẞ', 'ﬅ', '𝚤', 'é', 'à', 'ø', 'Đ', '٣', '\u0364']),
  );
  const passed = letters.filter(
    ([letter, plain]) => costOf(`/a${encodeURIComponent(letter)}n/x`, denying(`/a${plain}n/**`)) !== 'ambiguous_path',
  );
  expect(passed).toEqual([]);
});

test('no letter that servers leave out hides a route', () => {
  const unseen = [...lettersOfUnicode()].filter(
    (it) => /[\p{M}\p{DI}\p{Cf}\p{White_Space}]/u.test(it) || COLLATION.compare(`x${it}x`, 'xx') === 0,
  );
  expect(unseen).toEqual(expect.arrayContaining(['\x85', '\xad', '\u034f', '\u180e', '\u200b', '\ufe0f', '\u{e0041}']));
  const project = denying('/dear/**');
  const passed = unseen.filter((it) => {
    const places = [`/${it}dear/x`, `/dear${it}/x`, ...(/\s|\x85/.test(it) ? [] : [`/de${it}ar/x`])];
    return places.some((path) => costOf(encodeURI(path), project) !== 'ambiguous_path');
  });
  expect(passed).toEqual([]);
  for (const it of ['%1c', '%1f', '%7f', '%20%e2%80%8b', '%c2%85%20', '%cc%81%cc%a3'])
    expect(costOf(`/dear${it}/x`, project)).toBe('ambiguous_path');
});

test.each([
  '/café',
  '/résumé',
  '/straße',
  '/naïve/x',
  '/がぎ/パン',
  '/हिन्दी',
  '/ภาษาไทย',
  '/Ö',
  '/А',
  '/Привет',
  '/❤️',
  '/a b',
])('the honest path %s has the price of its route, where others are denied', (path) => {
  expect(costOf(encodeURI(path), denying('/dear/**', '/d', '/a', '/ppp'))).toBe(0n);
});

test('no long path of accents takes many times what a plain one does', () => {
  const project = denying(...Array.from({ length: 99 }, (_, n) => `/dear/${n}`));
  const least = (path: string) =>
    Math.min(
      ...Array.from({ length: 5 }, () => {
        const { user, system } = process.cpuUsage();
        for (let n = 0; n < 20; n += 1) costOf(path, project);
        const used = process.cpuUsage({ user, system });
        return used.user + used.system;
      }),
    );
  const times = ['%cc%81%cc%a3', '%cd%a4%c2%ad', '%e3%8c%80', '\xef\xb7\xba'].map(
    (it) => least(`/${it.repeat(Math.floor(2_040 / it.length))}`) / least(`/${'%41'.repeat(680)}`),
  );
  expect(Math.max(...times)).toBeLessThan(20);
  expect(costOf(`/${'%cc%81'.repeat(1_400)}`, project)).toBe('ambiguous_path');
});
