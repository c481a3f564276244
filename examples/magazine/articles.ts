/** Something to read. */
export interface Article {
  readonly slug: string;
  readonly title: string;
  /** Whoever reads the preview may want the rest. */
  readonly preview: string;
  readonly rest: string;
  readonly access: 'free' | 'day' | 'gold';
}

export const ARTICLES: readonly Article[] = [
  {
    slug: 'welcome',
    title: 'Welcome to the magazine',
    preview: 'What stands here, and who writes it.',
    rest: 'Three of us do, on Sundays.',
    access: 'free',
  },
  {
    slug: 'the-long-way-home',
    title: 'The long way home',
    preview: 'The last train had left, and so we walked.',
    rest: 'It took us until the morning, and none of us would have missed it.',
    access: 'day',
  },
  {
    slug: 'a-letter-from-the-north',
    title: 'A letter from the north',
    preview: 'It has been dark for a month.',
    rest: 'Yesterday, at noon, there was a line of light.',
    access: 'day',
  },
  {
    slug: 'the-archive',
    title: 'The archive',
    preview: 'What we have never printed, for our oldest friends.',
    rest: 'It begins with a drawer that nobody had opened.',
    access: 'gold',
  },
];
