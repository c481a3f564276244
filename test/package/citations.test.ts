import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const ROOT = join(__dirname, '../..');
/** Pages that tell about files which an app has, or of other repositories. */
const FOREIGN = /node_modules|\/dist\//;

function filesBelow(folder: string, ending: RegExp): string[] {
  const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  return names.map((name) => join(folder, name)).filter((path) => ending.test(path) && !FOREIGN.test(path));
}

const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const pages = ['README.md', ...['src', 'test', 'examples', '.github'].flatMap((it) => filesBelow(it, /\.md$/))];
const sources = ['src', 'test', 'examples'].flatMap((it) => filesBelow(it, /\.(ts|mts|mjs|cjs)$/));

/** The anchor that a heading has on a page. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .trim()
    .replaceAll(' ', '-');
}

/** The text of comments without the line breaks in them. */
const flat = (text: string) => text.replaceAll(/\n\s*(\*|\/\/)?\s*/g, ' ');

const brokenCitations = (path: string) => brokenCitationsIn(path, textOf(path));

function headingsOf(page: string): string[] {
  return [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
}

/** The links of a page, each with the file of the repository that it names. */
function linksOf(page: string) {
  return [...textOf(page).matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)].map(([, link = '']) => {
    const [path = '', anchor] = link.split('#');
    return { link, anchor, target: path === '' ? page : relative(ROOT, join(ROOT, dirname(page), path)) };
  });
}

/** Links of a page to files of the repository that are not there, or to headings that they do not have. */
function brokenLinks(page: string): string[] {
  const broken = linksOf(page).filter(({ anchor, target }) => {
    if (!existsSync(join(ROOT, target))) return true;
    return anchor !== undefined && !headingsOf(target).some((heading) => anchorOf(heading) === anchor);
  });
  return broken.map(({ link }) => link);
}

/** The files of the package as it is published. */
function packedFiles(): ReadonlySet<string> {
  const told = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const [{ files }] = JSON.parse(told);
  return new Set(files.map(({ path }: { readonly path: string }) => path));
}

/** Citations of a page by its name and a heading, `protocol/README.md, "Version 2"`, that lead nowhere. */
function brokenCitationsIn(path: string, text: string): string[] {
  const cited = [...flat(text).matchAll(/([\w./-]*[\w-]+\.md)(?!\w)(?:, "([^"]+)")?/g)];
  return cited.flatMap(([whole, page = '', heading]) => {
    const places = [page, join('src', page), join(dirname(path), page)].filter((it) => existsSync(join(ROOT, it)));
    const isThere = places.some((it) => heading === undefined || headingsOf(it).includes(heading));
    return isThere ? [] : [`${path}: ${whole}`];
  });
}

describe('what is cited is there', () => {
  test.each(pages)('every link of %s leads somewhere', (page) => {
    expect(brokenLinks(page)).toEqual([]);
  });

  test('every guide and example that a page of the package links to is in the package', () => {
    const packed = packedFiles();
    // How it is developed is told in the repository alone.
    const elsewhere = /^(test|\.github)\//;
    const missing = pages
      .filter((page) => packed.has(page))
      .flatMap((page) => linksOf(page).filter(({ target }) => !packed.has(target) && !elsewhere.test(target)));
    expect(missing).toEqual([]);
  });

  test('every page that a comment names is in the repository, and has the heading that is named', () => {
    expect(sources.flatMap(brokenCitations)).toEqual([]);
  });
});

describe('what leads nowhere is found', () => {
  test.each(['protocol/no-such-page.m', 'protocol/README.m', 'README.m'])('%s', (name) => {
    const text = `/** What it does (${name}d, "No such heading"). */`;
    expect(brokenCitationsIn('src/protocol/types.ts', text)).toHaveLength(1);
  });
});
