/** The colours of a page, as CSS writes them. */
export interface PageColours {
  /** Behind everything. */
  readonly paper: string;
  /** Behind what is read. */
  readonly card: string;
  readonly ink: string;
  /** Of what is beside the point. */
  readonly soft: string;
  readonly line: string;
  /** Of buttons and links. */
  readonly accent: string;
  /** Of what is written on a button. */
  readonly 'on-accent': string;
  /** Of what went wrong. */
  readonly bad: string;
}

/** The colours by day. */
export const LIGHT: PageColours = {
  paper: '#f4f5f7',
  card: '#ffffff',
  ink: '#16181d',
  soft: '#565d6b',
  line: '#d9dce3',
  accent: '#4a32c9',
  'on-accent': '#ffffff',
  bad: '#a31621',
};

/** The colours by night. */
export const DARK: PageColours = {
  paper: '#101216',
  card: '#1a1d23',
  ink: '#eceef2',
  soft: '#a6adbb',
  line: '#383d48',
  accent: '#a99bff',
  'on-accent': '#14101f',
  bad: '#ff9c9c',
};
