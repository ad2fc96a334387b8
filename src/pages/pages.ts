import type { FastifyReply, FastifyRequest } from 'fastify';
import { removeOrigin } from '../http/cors.js';
import type { KeptBodies } from '../http/kept-bodies.js';
import { DemoKey } from './demo-key.js';
import { graphiqlPage } from './graphiql.page.js';
import { homePage } from './home.page.js';
import type { OpenApi } from './openapi-parts.js';
import { PageAssets } from './page-assets.js';
import { GRAPHIQL_HEADERS, PAGE_HEADERS, SANDBOX_HEADERS } from './page-headers.js';
import { ProjectNames } from './project-names.js';
import { referencePage } from './reference.page.js';
import { sandboxPage } from './sandbox.page.js';

const HTML = 'text/html; charset=utf-8';

interface PagesSettings {
  projects: ConstructorParameters<typeof ProjectNames>[0];
  /** The platform's address, without `/v1`. */
  base: () => string;
  openApiDocument: () => object;
  /** What Apollo Sandbox opens with. */
  sandboxDocument: string;
}

/** The pages for people. Each is rendered once for all clients that see the same. */
export class Pages {
  readonly demoKey = new DemoKey();
  private readonly names: ProjectNames;

  private constructor(
    readonly assets: PageAssets,
    private readonly kept: KeptBodies,
    private readonly settings: PagesSettings,
  ) {
    this.names = new ProjectNames(settings.projects);
  }

  /** Throws when what the pages load has not been built. */
  static async open(kept: KeptBodies, settings: PagesSettings): Promise<Pages> {
    return new Pages(await PageAssets.read(), kept, settings);
  }

  /** `/`: of the platform, what this is; of a project, its reference. */
  async front(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    if (request.site.projectId !== null) return this.reference(request, reply);
    reply.headers(PAGE_HEADERS);
    const base = this.settings.base();
    const page = await this.kept.of(`home ${base}`, HTML, () => homePage(this.assets, base));
    return page.send(request, reply);
  }

  async reference(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { projectId, origin } = request.site;
    const isOfProject = projectId !== null && origin !== null;
    const owner = isOfProject ? { name: await this.names.nameOf(projectId), origin } : null;
    reply.headers(PAGE_HEADERS);
    const key = owner ? `reference of ${owner.origin} ${owner.name}` : `reference ${this.settings.base()}`;
    const page = await this.kept.of(key, HTML, () =>
      referencePage(this.assets, this.settings.openApiDocument() as OpenApi, owner),
    );
    return page.send(request, reply);
  }

  async graphiql(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    reply.headers(GRAPHIQL_HEADERS);
    const page = await this.kept.of('graphiql', HTML, () => graphiqlPage(this.assets));
    return page.send(request, reply);
  }

  async sandbox(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    removeOrigin(reply);
    // There may be a key in it.
    reply.headers({ ...SANDBOX_HEADERS, 'cache-control': 'no-store', vary: 'Accept, Accept-Encoding' });
    const demoKey = request.site.projectId === null ? this.demoKey.for(request) : null;
    const render = () => sandboxPage(this.assets, { document: this.settings.sandboxDocument, demoKey });
    // A page with the key in it is this client's alone.
    if (demoKey !== null) return reply.type(HTML).send(render());
    return (await this.kept.of('sandbox', HTML, render)).send(request, reply);
  }
}
