import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { AppError } from '../../ground/kernel/errors.js';
import type { GatewayDescription } from '../../noun-words.js';
import { KeptBody } from '../../request/http/content/kept-body.js';
import { restrictMethods } from '../../request/http/unrouted.js';
import { brandFiles } from './brand-files.js';
import { type BuiltFiles, builtFolder, readBuiltFiles, sendBuiltFile } from './built-files.js';
import { DASHBOARD_HEADERS } from './page-headers.js';
import { gatewayBlock, html } from './pages/markup/html.js';

const ASSETS = 'assets/';
const PAGE = 'index.html';
/** The title of the built page, the place of what this gateway is. */
const TITLE = '<title>Dashboard</title>';
/** Its link to the usual icon. */
const ICON = /(?<=<link rel="icon" href=")[^"]*/;
const NOT_BUILT =
  'The dashboard is not built. Run "npm run build" where the gateway is installed, then reload.';

/**
 * DOOR 3: the files of a browser client of DOOR 1. Mounted at `/dashboard`, on the platform's own hosts; needs no key and
 * spends nothing. `folder` is where the built dashboard is. Files are read once, at the first request. D-278.
 */
export function dashboardDoor(
  app: FastifyInstance,
  gateway: GatewayDescription,
  folder = builtFolder('dashboard'),
): void {
  let loading: Promise<BuiltFiles> | null = null;
  const serve = async (request: FastifyRequest, reply: FastifyReply) => {
    loading ??= readDashboard(folder, gateway);
    // A build that is being replaced can't be read: the next request tries again.
    const files = await loading.catch(() => null);
    const page = files?.get(PAGE);
    if (!files || !page) {
      loading = null;
      return reply.code(503).header('cache-control', 'no-store').type('text/plain').send(NOT_BUILT);
    }
    const path = (request.params as { '*'?: string })['*'] ?? '';
    const file = files.get(path);
    // Every other path is a page that the client resolves. A missing file is not a page.
    if (!file && path.startsWith(ASSETS))
      throw new AppError('not_found', 'This file no longer exists. Reload the page.');
    return sendBuiltFile(request, reply.header('vary', 'accept-encoding'), file ?? page);
  };
  for (const path of ['/', '/*']) {
    app.get(path, serve);
    restrictMethods(app, path, ['GET']);
  }
}

/** The dashboard is of the platform, not of a project. Throws `AppError not_found` on a project's hosts. */
export const requirePlatformHost: onRequestHookHandler = ({ site }, reply, done) => {
  if (site.projectId !== null) return done(new AppError('not_found', 'There is nothing at this path.'));
  reply.headers(DASHBOARD_HEADERS);
  done();
};

/** The built files, with the name, the nouns, the icon and the colour of this gateway in the page. */
async function readDashboard(folder: string, gateway: GatewayDescription): Promise<BuiltFiles> {
  const files = await readBuiltFiles(folder);
  const built = files.get(PAGE);
  if (!built) return files;
  const { icon, style } = await brandFiles(gateway);
  const link = style !== null && html`\n    <link rel="stylesheet" href="${style}">`;
  const { markup } = html`<title>${gateway.name}</title>\n    ${gatewayBlock({ ...gateway, icon })}${link}`;
  const text = built.body.text.replace(TITLE, () => markup).replace(ICON, (usual) => icon ?? usual);
  const body = await KeptBody.of(built.body.type, text);
  return new Map([...files, [PAGE, { isHashed: false, body }]]);
}
