import { domainToUnicode } from 'node:url';

/** An ASCII host name in the form that people write: `straße.de`. Labels with look-alike letters stay `xn--…`. */
export function unicodeOf(hostname: string): string {
  return hostname
    .split('.')
    .map((label) => {
      const unicode = domainToUnicode(label);
      return imitates(unicode) ? label : unicode;
    })
    .join('.');
}

/** Cyrillic, Greek and Armenian letters that look like Latin ones. */
const LATIN_LOOKALIKES = /^[асԁеһіјӏорԛѕԝхуҽѵѡοναικρυτχօսոհց0-9-]+$/u;
const SCRIPTS = ['Latin', 'Cyrillic', 'Greek', 'Armenian', 'Cherokee', 'Hebrew', 'Arabic'].map(
  (script) => new RegExp(`\\p{Script=${script}}`, 'u'),
);

/** Whether a label has only look-alike letters, or mixes alphabets. Japanese labels may mix Latin with other scripts. */
function imitates(label: string): boolean {
  const isMixed = SCRIPTS.filter((script) => script.test(label)).length > 1;
  return isMixed || (/[^0-9a-z-]/.test(label) && LATIN_LOOKALIKES.test(label));
}
