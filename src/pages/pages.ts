import type { FastifyReply, FastifyRequest } from 'fastify';
import { DemoKey } from './demo-key.js';
import { graphiqlPage } from './graphiql.page.js';
import { homePage } from './home.page.js';
import type { OpenApi } from './openapi-parts.js';
import { PageAssets } from './page-assets.js';
import { GRAPHIQL_HEADERS, PAGE_HEADERS, SANDBOX_HEADERS } from './page-headers.js';
import { ProjectNames } from './project-names.js';
import { referencePage } from './reference.page.js';
import { sandboxPage } from './sandbox.page.js';

interface PagesSettings {
  projects: ConstructorParameters<typeof ProjectNames>[0];
  /** The platform's address, without `/v1`. */
  base: () => string;
  openApiDocument: () => object;
  /** What Apollo Sandbox opens with. */
  sandboxDocument: string;
}

/** The pages for people, and who gets to see what on them. */
export class Pages {
  readonly demoKey = new DemoKey();
  private readonly names: ProjectNames;

  private constructor(
    readonly assets: PageAssets,
    private readonly settings: PagesSettings,
  ) {
    this.names = new ProjectNames(settings.projects);
  }

  /** Throws when what the pages load has not been built. */
  static async open(settings: PagesSettings): Promise<Pages> {
    return new Pages(await PageAssets.read(), settings);
  }

  /** `/`: of the platform, what this is; of a project, its reference. */
  async front(request: FastifyRequest, reply: FastifyReply): Promise<string> {
    if (request.site.projectId !== null) return this.reference(request, reply);
    reply.headers(PAGE_HEADERS);
    return homePage(this.assets, this.settings.base());
  }

  async reference({ site }: FastifyRequest, reply: FastifyReply): Promise<string> {
    const { projectId, origin } = site;
    const isOfProject = projectId !== null && origin !== null;
    const owner = isOfProject ? { name: await this.names.nameOf(projectId), origin } : null;
    reply.headers(PAGE_HEADERS);
    return referencePage(this.assets, this.settings.openApiDocument() as OpenApi, owner);
  }

  async graphiql(_: FastifyRequest, reply: FastifyReply): Promise<string> {
    reply.headers(GRAPHIQL_HEADERS);
    return graphiqlPage(this.assets);
  }

  async sandbox(request: FastifyRequest, reply: FastifyReply): Promise<string> {
    // There may be a key in it.
    reply.headers({ ...SANDBOX_HEADERS, 'cache-control': 'no-store' });
    const demoKey = request.site.projectId === null ? this.demoKey.for(request) : null;
    return sandboxPage(this.assets, { document: this.settings.sandboxDocument, demoKey });
  }
}
