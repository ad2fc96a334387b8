import { hash } from 'node:crypto';
import type { GatewayDescription } from '../../noun-words.js';
import { KeptBody } from '../../request/http/content/kept-body.js';
import { accentStyle } from './accent.js';
import type { BuiltFiles } from './built-files.js';

/** The files of a gateway's own icon and accent colour, beside those of the build. The policies allow no inline style. */
export interface BrandFiles {
  readonly files: BuiltFiles;
  /** Their paths; null = the usual icon, the usual colour. */
  readonly icon: string | null;
  readonly style: string | null;
}

export async function brandFiles({
  icon,
  accentColor,
}: Pick<GatewayDescription, 'icon' | 'accentColor'>): Promise<BrandFiles> {
  const files = new Map<string, { isHashed: true; body: KeptBody }>();
  const add = async (name: string, ending: string, type: string, text: string) => {
    const file = `${name}-${hash('sha256', text, 'hex').slice(0, 8)}.${ending}`;
    files.set(file, { isHashed: true, body: await KeptBody.of(type, text) });
    return `/pages/${file}`;
  };
  return {
    files,
    icon: icon === undefined ? null : await add('own-icon', 'svg', 'image/svg+xml', icon),
    style:
      accentColor === undefined
        ? null
        : await add('accent', 'css', 'text/css; charset=utf-8', accentStyle(accentColor)),
  };
}
