import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { AppError } from '../../ground/kernel/errors.js';
import { KeptBody } from '../../request/http/content/kept-body.js';
import { removeOrigin } from '../../request/http/cors.js';
import { canonicalLinks } from '../../request/http/headers.js';
import type { ProjectService } from '../../tenants/projects/project.service.js';
import { type BuiltFile, type BuiltFiles, builtFolder, readBuiltFiles } from './built-files.js';
import { isOfThisMachine } from './demo-key.js';
import { GRAPHIQL_HEADERS, PAGE_HEADERS, SANDBOX_HEADERS } from './page-headers.js';

const MAX_NAMES = 1_000;
const NAME_KNOWN_MS = 10_000;
const TEXT = 'text/plain; charset=utf-8';
/** The place of the servers in the OpenAPI document of the build, which names none. */
const NO_SERVERS = '"servers":[]';
/** The place of the base address in the Postman collection of the build. */
const NO_BASE_URL = '"key":"baseUrl","value":""';
/** The place of the API key in the settings of Apollo Sandbox, as the build escapes it. */
const KEY_PLACE = String.raw`\u003cAPI_KEY\u003e`;

interface PagesSettings {
  projects: Pick<ProjectService, 'get'>;
  /** The platform's base addresses, as the OpenAPI document names them. */
  servers: () => readonly { url: string }[];
  /** The GraphQL schema as a text, with its directives. */
  schemaText: () => string;
}

/** The pages for people, as the build has made them: for the hosts of the platform, and for those of projects. */
export class Pages {
  /** Of the demo project, stored only in the memory of the process that created it. */
  demoKey: string | null = null;
  /** Display names of projects: readers of a page put no load on the database. */
  private readonly names: LRUCache<bigint, string>;
  private schemaBody: Promise<KeptBody> | undefined;
  private openApiBody: Promise<KeptBody> | undefined;
  private postmanBody: Promise<KeptBody> | undefined;

  private constructor(
    /** The pages and the files that they load. */
    readonly files: BuiltFiles,
    private readonly settings: PagesSettings,
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
    if (!files.has('openapi.json')) {
      throw new AppError('internal', 'The pages for browsers are not built. Run: npm run build');
    }
    return new Pages(files, settings);
  }

  /** `/`: the introduction on the platform's hosts, the reference on a project's hosts. */
  front(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    if (request.site.projectId !== null) return this.reference(request, reply);
    return this.page(request, 'home').body.sendNegotiated(request, reply.headers(PAGE_HEADERS));
  }

  /** A page of the reference, or its introduction. Throws `AppError not_found`. */
  reference(request: FastifyRequest, reply: FastifyReply, name?: string): FastifyReply {
    const page = this.page(request, name === undefined ? 'v1/docs' : `v1/docs/${name}`);
    reply.headers(PAGE_HEADERS);
    for (const link of canonicalLinks(request)) reply.header('link', link);
    return page.body.sendNegotiated(request, reply);
  }

  searchIndex(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    return this.file('search.json').body.sendNegotiated(request, reply.headers(PAGE_HEADERS));
  }

  /** The facts of a host that its built pages lack. */
  async siteFacts({ site: { projectId } }: FastifyRequest, reply: FastifyReply): Promise<object> {
    const project = projectId === null ? null : await this.names.fetch(projectId);
    // The pages ask each time, and a new name need not show at once.
    reply.headers({ ...PAGE_HEADERS, 'cache-control': 'private, max-age=60' });
    return { project, servers: projectId === null ? this.settings.servers() : [] };
  }

  /** The GraphQL schema, for people and for programs that have no key. D-121. */
  async schema(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    this.schemaBody ??= KeptBody.of(TEXT, this.settings.schemaText());
    return (await this.schemaBody).sendNegotiated(request, reply.headers(PAGE_HEADERS));
  }

  /** The OpenAPI document of the build, with the base addresses of this installation. */
  openApiDocument(): Promise<KeptBody> {
    const servers = () => `"servers":${JSON.stringify(this.settings.servers())}`;
    this.openApiBody ??= this.filledIn('openapi.json', NO_SERVERS, servers);
    return this.openApiBody;
  }

  /** The Postman collection of the build, with this installation's address. */
  postmanCollection(): Promise<KeptBody> {
    const baseUrl = () => `"key":"baseUrl","value":${JSON.stringify(this.settings.servers()[0]?.url)}`;
    this.postmanBody ??= this.filledIn('postman.json', NO_BASE_URL, baseUrl);
    return this.postmanBody;
  }

  /** `text` is a function: in a text `$&` has a meaning, and an address may contain it. */
  private filledIn(name: string, place: string, text: () => string): Promise<KeptBody> {
    const { body } = this.file(name);
    return KeptBody.of(body.type, body.text.replace(place, text));
  }

  graphiql(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    return this.page(request, 'graphiql').body.sendNegotiated(request, reply.headers(GRAPHIQL_HEADERS));
  }

  sandbox(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    removeOrigin(reply);
    // The page may contain a key.
    reply.headers({ ...SANDBOX_HEADERS, 'cache-control': 'no-store', vary: 'Accept, Accept-Encoding' });
    const { body } = this.page(request, 'sandbox');
    const isShown = request.site.projectId === null && isOfThisMachine(request.raw);
    if (this.demoKey === null || !isShown) return body.sendNegotiated(request, reply);
    // A page with the key is for this client only.
    return reply.type(body.type).send(body.text.replace(KEY_PLACE, this.demoKey));
  }

  /** Sends people a page in the place of the Error body of a 404, with links that lead on. */
  notFound(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const name = request.url.startsWith('/v1/docs/') ? 'docs-not-found' : 'not-found';
    const { body } = this.page(request, name);
    removeOrigin(reply);
    reply.code(404).headers({ ...PAGE_HEADERS, 'cache-control': 'no-store' });
    return reply.type(body.type).send(body.text);
  }

  private page({ site }: FastifyRequest, name: string): BuiltFile {
    return this.file(`${site.projectId === null ? 'platform' : 'project'}/${name}.html`);
  }

  private file(path: string): BuiltFile {
    const file = this.files.get(path);
    return file ?? refuseUnknownPage();
  }
}

export function refuseUnknownPage(): never {
  throw new AppError('not_found', 'The reference has no such page. See /v1/docs.');
}
