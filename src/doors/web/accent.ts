type Channels = readonly number[];

export const WHITE = '#ffffff';
/** Text of normal size is readable from this contrast on. WCAG 2.2, 1.4.3. */
export const READABLE = 4.5;
const BLACK = '#000000';
/** The surfaces of the design on which the accent is text, that are nearest to it: `--hover` of each theme. */
const LIGHT_SURFACE = '#f1f2f2';
const DARK_SURFACE = '#1b1e1f';
const STEP = 0.05;

/**
 * The accent colour of the design's tokens as a style sheet, for both themes. It is darkened or brightened only as far as text
 * of it, and on it, must be. Its selector wins wherever it is linked.
 */
export function accentStyle(color: string): string {
  const tokens = Object.entries(themeOf(color, BLACK, WHITE, LIGHT_SURFACE)).map(([token, light]) => {
    const dark = themeOf(color, WHITE, BLACK, DARK_SURFACE)[token as Token];
    return `--${token}:light-dark(${light},${dark})`;
  });
  return `:root:root{${tokens.join(';')}}\n`;
}

type Token = 'accent' | 'accent-hover' | 'accent-ink' | 'accent-soft';

function themeOf(color: string, away: string, ink: string, surface: string): Record<Token, string> {
  const softOf = (accent: string) => mixed(accent, surface, 0.9);
  const isReadable = (accent: string) =>
    [ink, surface, softOf(accent)].every((other) => contrast(accent, other) >= READABLE);
  let part = 0;
  while (part < 1 && !isReadable(mixed(color, away, part))) part += STEP;
  const accent = mixed(color, away, part);
  return {
    accent,
    'accent-hover': mixed(accent, away, 0.2),
    'accent-ink': ink,
    'accent-soft': softOf(accent),
  };
}

/** WCAG 2.2: from 1 to 21. */
export function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function mixed(color: string, other: string, part: number): string {
  const others = channelsOf(other);
  const values = channelsOf(color).map((value, at) => Math.round(value + ((others[at] ?? 0) - value) * part));
  return `#${values.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = channelsOf(color).map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function channelsOf(color: string): Channels {
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
}
