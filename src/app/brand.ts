import { readFileSync } from 'node:fs';
import { contrast, READABLE, WHITE } from '../doors/web/accent.js';

/** The name of a gateway, and how it presents itself. */
export interface BrandOptions {
  /** The name of the product for people, such as `Acme Books`. */
  readonly name: string;
  /**
   * The name in headers, metrics and traces, such as `acme-books`; absent = made from the name. Clients and alerts depend on
   * it: state it before you change the name.
   */
  readonly slug?: string;
  /** An SVG image as text, or its file; absent = the usual one. */
  readonly icon?: string | URL;
  /** Of links and buttons, such as `#7a1f5c`; absent = green. */
  readonly accentColor?: string;
}

export interface Brand {
  readonly name: string;
  readonly slug: string;
  /** SVG. */
  readonly icon?: string;
  readonly accentColor?: string;
}

const SLUG = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;
const MAX_SLUG_LENGTH = 40;
/** Browsers let no page send or read headers that begin so. WHATWG Fetch §2.2.2. */
const OF_BROWSERS = /^(?:access-control|proxy|sec)(?:-|$)/;
const MAX_ICON_BYTES = 20_000;

/** Throws, with one sentence, for what cannot be shown or named. D-266. */
export function brandOf({ name, slug, icon, accentColor }: BrandOptions): Brand {
  if (typeof name !== 'string' || name.trim() === '')
    throw new Error('A gateway needs a name, such as "Acme Books".');
  return {
    name,
    slug: slug === undefined ? slugOf(name) : checkedSlug(slug),
    ...(icon === undefined ? {} : { icon: checkedIcon(icon) }),
    ...(accentColor === undefined ? {} : { accentColor: checkedColor(accentColor) }),
  };
}

/** `acme-books` for `Acme Books Gateway`. */
function slugOf(name: string): string {
  const words = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
  if (words.length > 1 && words.at(-1) === 'gateway') words.pop();
  const slug = words.join('-');
  if (isSlug(slug)) return slug;
  throw new Error(`The name ${JSON.stringify(name)} makes no slug. State one, such as slug: 'acme-books'.`);
}

function checkedSlug(slug: string): string {
  if (isSlug(slug)) return slug;
  const rule = `must be up to ${MAX_SLUG_LENGTH} lower-case letters, digits and single hyphens, begin with a letter, and not with access-control, proxy or sec`;
  throw new Error(
    `The slug ${JSON.stringify(slug)} can't be used: it ${rule}. Use one such as "acme-books".`,
  );
}

const isSlug = (slug: string) => SLUG.test(slug) && slug.length <= MAX_SLUG_LENGTH && !OF_BROWSERS.test(slug);

function checkedIcon(icon: string | URL): string {
  const refuse = (reason: string): never => {
    throw new Error(`The icon can't be used: ${reason}. State an SVG image as text, or the URL of its file.`);
  };
  const read = (url: URL): string => {
    try {
      return readFileSync(url, 'utf8');
    } catch (error) {
      return refuse((error as Error).message);
    }
  };
  const text = icon instanceof URL ? read(icon) : icon;
  if (Buffer.byteLength(text) > MAX_ICON_BYTES) refuse(`it is larger than ${MAX_ICON_BYTES / 1000} KB`);
  // Without the declaration and the comments that drawing programs write.
  const svg = text
    .replace(/^\s*<\?xml[^>]*>/, '')
    .replaceAll(/<!--.*?-->/gs, '')
    .trim();
  const [root = ''] = /^<svg\s[^>]*>/.exec(svg) ?? [];
  if (root === '' || !svg.endsWith('</svg>')) refuse('it is no SVG image');
  if (!/xmlns=["']http:\/\/www\.w3\.org\/2000\/svg["']/.test(root))
    refuse('its svg element lacks xmlns="http://www.w3.org/2000/svg"');
  // A browser that opens the image itself would run them.
  if (/<script|<foreignObject|<!DOCTYPE|<!ENTITY|javascript:|[\s/"']on\w+\s*=/i.test(svg))
    refuse('it has a script, a handler, a foreign object or an entity');
  return svg;
}

function checkedColor(color: string): string {
  const refuse = (reason: string): never => {
    throw new Error(`The accent colour ${JSON.stringify(color)} can't be used: ${reason}.`);
  };
  if (!/^#[0-9a-f]{6}$/i.test(color)) refuse('it must be six hexadecimal digits, such as "#7a1f5c"');
  const withWhite = contrast(color, WHITE);
  if (withWhite < READABLE)
    refuse(
      `white text on it has a contrast of ${withWhite.toFixed(1)} and needs ${READABLE}: choose a darker colour`,
    );
  return color.toLowerCase();
}
