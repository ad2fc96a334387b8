import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { AppError } from '../../ground/kernel/errors.js';
import type { GatewayDescription } from '../../noun-words.js';
import { KeptBodies } from '../../request/http/content/kept-bodies.js';
import { KeptBody } from '../../request/http/content/kept-body.js';
import { removeOrigin } from '../../request/http/cors.js';
import { canonicalLinks } from '../../request/http/headers.js';
import type { ProjectService } from '../../tenants/projects/project.service.js';
import { type BrandFiles, brandFiles } from './brand-files.js';
import { type BuiltFiles, builtFolder, readBuiltFiles } from './built-files.js';
import { isOfThisMachine } from './demo-key.js';
import { GRAPHIQL_HEADERS, PAGE_HEADERS, SANDBOX_HEADERS } from './page-headers.js';
import type { Manifest } from './pages/markup/layout.js';

const MAX_NAMES = 1_000;
const NAME_KNOWN_MS = 10_000;
const TEXT = 'text/plain; charset=utf-8';
const HTML = 'text/html; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';
const MANIFEST = 'manifest.json';
const SEARCH_INDEX = 'search.json';
/** The place of the API key in the settings of Apollo Sandbox, as the page escapes it. */
const KEY_PLACE = String.raw`\u003cAPI_KEY\u003e`;

interface PagesSettings {
  projects: Pick<ProjectService, 'get'>;
  /** The platform's base addresses, as the OpenAPI document names them. */
  servers: () => readonly { url: string }[];
  /** The name and the nouns that the pages show. */
  gateway: GatewayDescription;
  /** The OpenAPI document, of which the reference is made. */
  openApiText: () => Promise<string>;
  /** The GraphQL schema as a text, with its directives. */
  schemaText: () => string;
}

/**
 * The pages for people, for the hosts of the platform and for those of projects. The build makes their scripts and styles;
 * each page is rendered at its first request, and kept. D-278.
 */
export class Pages {
  /** Of the demo project, stored only in the memory of the process that created it. */
  demoKey: string | null = null;
  /** Display names of projects: readers of a page put no load on the database. */
  private readonly names: LRUCache<bigint, string>;
  private readonly bodies = new KeptBodies();
  private renderers: Promise<ReadonlyMap<string, () => string>> | null = null;

  private constructor(
    /** The files that pages load. */
    readonly files: BuiltFiles,
    private readonly settings: PagesSettings,
    private readonly brand: BrandFiles,
  ) {
    this.names = new LRUCache({
      max: MAX_NAMES,
      ttl: NAME_KNOWN_MS,
      // A name reaches its readers although others have evicted it meanwhile.
      ignoreFetchAbort: true,
      fetchMethod: async (projectId) => (await settings.projects.get(projectId)).name,
    });
  }

  /** Throws `AppError internal` if there is no build. */
  static async open(settings: PagesSettings, folder = builtFolder('pages')): Promise<Pages> {
    const files = await readBuiltFiles(folder);
    if (!files.has(MANIFEST)) {
      throw new AppError('internal', 'The pages for browsers are not built. Run: npm run build');
    }
    const brand = await brandFiles(settings.gateway);
    return new Pages(new Map([...files, ...brand.files]), settings, brand);
  }

  /** `/`: the introduction on the platform's hosts, the reference on a project's hosts. */
  async front(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    if (request.site.projectId !== null) return this.reference(request, reply);
    return (await this.page(request, 'home')).sendNegotiated(request, reply.headers(PAGE_HEADERS));
  }

  /** A page of the reference, or its introduction. Throws `AppError not_found`. */
  async reference(request: FastifyRequest, reply: FastifyReply, name?: string): Promise<FastifyReply> {
    const page = await this.page(request, name === undefined ? 'v1/docs' : `v1/docs/${name}`);
    reply.headers(PAGE_HEADERS);
    for (const link of canonicalLinks(request)) reply.header('link', link);
    return page.sendNegotiated(request, reply);
  }

  async searchIndex(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const index = await this.rendered(SEARCH_INDEX, JSON_TYPE);
    return index.sendNegotiated(request, reply.headers(PAGE_HEADERS));
  }

  /** The facts of a host that its pages lack. */
  async siteFacts({ site: { projectId } }: FastifyRequest, reply: FastifyReply): Promise<object> {
    const project = projectId === null ? null : await this.names.fetch(projectId);
    // The pages ask each time, and a new name need not show at once.
    reply.headers({ ...PAGE_HEADERS, 'cache-control': 'private, max-age=60' });
    return { project, servers: projectId === null ? this.settings.servers() : [] };
  }

  /** The GraphQL schema, for people and for programs that have no key. */
  async schema(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const schema = await this.bodies.of('schema', () => KeptBody.of(TEXT, this.settings.schemaText()));
    return schema.sendNegotiated(request, reply.headers(PAGE_HEADERS));
  }

  async graphiql(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    return (await this.page(request, 'graphiql')).sendNegotiated(request, reply.headers(GRAPHIQL_HEADERS));
  }

  async sandbox(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    removeOrigin(reply);
    // The page may contain a key.
    reply.headers({ ...SANDBOX_HEADERS, 'cache-control': 'no-store', vary: 'Accept, Accept-Encoding' });
    const body = await this.page(request, 'sandbox');
    const isShown = request.site.projectId === null && isOfThisMachine(request.raw);
    if (this.demoKey === null || !isShown) return body.sendNegotiated(request, reply);
    // A page with the key is for this client only.
    return reply.type(body.type).send(body.text.replace(KEY_PLACE, this.demoKey));
  }

  /** Sends people a page in the place of the Error body of a 404, with links that lead on. */
  async notFound(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const name = request.url.startsWith('/v1/docs/') ? 'docs-not-found' : 'not-found';
    const body = await this.page(request, name);
    removeOrigin(reply);
    reply.code(404).headers({ ...PAGE_HEADERS, 'cache-control': 'no-store' });
    return reply.type(body.type).send(body.text);
  }

  private page({ site }: FastifyRequest, name: string): Promise<KeptBody> {
    return this.rendered(`${site.projectId === null ? 'platform' : 'project'}/${name}.html`, HTML);
  }

  private rendered(path: string, type: string): Promise<KeptBody> {
    return this.bodies.of(path, async () => {
      this.renderers ??= this.loadRenderers();
      const renderers = await this.renderers.catch((error) => {
        this.renderers = null;
        throw error;
      });
      const render = renderers.get(path) ?? refuseUnknownPage();
      return KeptBody.of(type, render());
    });
  }

  /** Only now, because few processes are asked for pages, and none at its start. */
  private async loadRenderers(): Promise<ReadonlyMap<string, () => string>> {
    const { allPages } = await import('./pages/all-pages.js');
    const manifest: Manifest = JSON.parse(this.files.get(MANIFEST)?.body.text ?? '');
    return allPages(this.settings.gateway, this.brand, manifest, await this.settings.openApiText());
  }
}

export function refuseUnknownPage(): never {
  throw new AppError('not_found', 'The reference has no such page. See /v1/docs.');
}
