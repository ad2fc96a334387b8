import type { FastifyReply, FastifyRequest } from 'fastify';
import { canonicalLinks } from '../http/canonical-link.js';
import type { KeptBodies } from '../http/content/kept-bodies.js';
import { removeOrigin } from '../http/cors.js';
import { AppError } from '../kernel/errors.js';
import { type BuiltFiles, builtFolder, readBuiltFiles } from './built-files.js';
import { DemoKey } from './demo-key.js';
import { GRAPHIQL_HEADERS, PAGE_HEADERS, SANDBOX_HEADERS } from './page-headers.js';
import { graphiqlPage } from './pages/graphiql.page.js';
import { homePage } from './pages/home.page.js';
import { notFoundPage } from './pages/not-found.page.js';
import { PageAssets } from './pages/page-assets.js';
import { sandboxPage } from './pages/sandbox.page.js';
import { ProjectNames } from './project-names.js';
import type { ReferenceOwner } from './reference/introduction.js';
import { Reference } from './reference/reference.js';

const HTML = 'text/html; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';
const TEXT = 'text/plain; charset=utf-8';

interface PagesSettings {
  projects: ConstructorParameters<typeof ProjectNames>[0];
  /** The platform's address, without `/v1`. */
  base: () => string;
  /** Limits the number of origins, because a host's page is cached for each of them. */
  withKnownPort: (origin: string) => string;
  openApiDocument: () => object;
  /** The GraphQL schema as a text, with its directives. */
  schemaText: () => string;
  /** The query that Apollo Sandbox opens with. */
  sandboxDocument: string;
}

/** The pages for people. Each is rendered once for all clients that see the same content. */
export class Pages {
  readonly demoKey = new DemoKey();
  private readonly names: ProjectNames;
  private readonly texts: Reference;

  private constructor(
    /** The files that the pages load, all with a digest in their name. */
    readonly files: BuiltFiles,
    private readonly assets: PageAssets,
    private readonly kept: KeptBodies,
    private readonly settings: PagesSettings,
  ) {
    this.names = new ProjectNames(settings.projects);
    this.texts = new Reference(assets, settings.openApiDocument);
  }

  /** Throws if the files that the pages load have not been built. */
  static async open(kept: KeptBodies, settings: PagesSettings): Promise<Pages> {
    const folder = builtFolder('pages');
    const assets = await PageAssets.read(folder);
    return new Pages(await readBuiltFiles(folder, ''), assets, kept, settings);
  }

  /** `/`: the introduction on the platform's hosts, the reference on a project's hosts. */
  async front(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    if (request.site.projectId !== null) return this.reference(request, reply, '');
    reply.headers(PAGE_HEADERS);
    const base = this.settings.base();
    const page = await this.kept.of(`home ${base}`, HTML, () => homePage(this.assets, base));
    return page.sendNegotiated(request, reply);
  }

  /** A page of the reference; the slug of the first one is empty. Throws `AppError not_found`. */
  async reference(request: FastifyRequest, reply: FastifyReply, slug: string): Promise<FastifyReply> {
    // Only the slugs of pages become part of a cache key, never any other text of a client.
    if (!this.texts.has(slug))
      throw new AppError('not_found', 'The reference has no such page. See /v1/docs.');
    const owner = await this.ownerOf(request);
    reply.headers(PAGE_HEADERS);
    for (const link of canonicalLinks(request)) reply.header('link', link);
    const seenBy = owner ? `of ${owner.origin} ${owner.name}` : this.settings.base();
    const render = () => this.texts.textOf(slug, owner);
    return (await this.kept.of(`reference /${slug} ${seenBy}`, HTML, render)).sendNegotiated(request, reply);
  }

  async searchIndex(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    reply.headers(PAGE_HEADERS);
    return (await this.kept.of('search', JSON_TYPE, () => this.texts.searchIndex())).sendNegotiated(
      request,
      reply,
    );
  }

  /** The GraphQL schema, for people and for programs that have no key. */
  async schema(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    reply.headers(PAGE_HEADERS);
    return (await this.kept.of('schema', TEXT, this.settings.schemaText)).sendNegotiated(request, reply);
  }

  async graphiql(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    reply.headers(GRAPHIQL_HEADERS);
    const project = await this.projectOf(request);
    const page = await this.kept.of(`graphiql ${JSON.stringify(project)}`, HTML, () =>
      graphiqlPage(this.assets, project),
    );
    return page.sendNegotiated(request, reply);
  }

  async sandbox(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    removeOrigin(reply);
    // The page may contain a key.
    reply.headers({ ...SANDBOX_HEADERS, 'cache-control': 'no-store', vary: 'Accept, Accept-Encoding' });
    const demoKey = request.site.projectId === null ? this.demoKey.for(request) : null;
    const project = await this.projectOf(request);
    const document = this.settings.sandboxDocument;
    const render = () => sandboxPage(this.assets, { document, demoKey, project });
    // A page with the key is for this client only.
    if (demoKey !== null) return reply.type(HTML).send(render());
    return (await this.kept.of(`sandbox ${JSON.stringify(project)}`, HTML, render)).sendNegotiated(
      request,
      reply,
    );
  }

  /** Sends people a page in the place of the Error body of a 404, with links that lead on. */
  async notFound(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const project = await this.projectOf(request);
    removeOrigin(reply);
    reply.code(404).headers({ ...PAGE_HEADERS, 'cache-control': 'no-store' });
    return reply.type(HTML).send(notFoundPage(this.assets, project));
  }

  /** The name of the host's project; null on a host of the platform. */
  private projectOf({ site: { projectId } }: FastifyRequest): string | null | Promise<string> {
    return projectId === null ? null : this.names.nameOf(projectId);
  }

  private async ownerOf(request: FastifyRequest): Promise<ReferenceOwner | null> {
    const name = await this.projectOf(request);
    const { origin } = request.site;
    return name === null || origin === null ? null : { name, origin: this.settings.withKnownPort(origin) };
  }
}
