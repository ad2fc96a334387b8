import type { GatewayDescription } from '../../../noun-words.js';
import { KeptBodies } from '../../../request/http/content/kept-bodies.js';
import { KeptBody } from '../../../request/http/content/kept-body.js';
import type { RestDocument } from '../rest-document.js';
import { openApiDocument } from './openapi.js';
import { type PostmanSource, postmanCollection } from './postman.js';

const JSON_TYPE = 'application/json; charset=utf-8';

/** The files for tools, with the base addresses of this installation. Each is made at its first request. */
export class RestFiles {
  private readonly bodies = new KeptBodies();

  constructor(
    private readonly gateway: GatewayDescription,
    /** Known once the gateway listens. */
    private readonly servers: () => readonly { url: string }[],
    private readonly documents: () => Promise<readonly RestDocument[]>,
  ) {}

  openApi(): Promise<KeptBody> {
    return this.bodies.of('openapi.json', async () => KeptBody.of(JSON_TYPE, await this.openApiText()));
  }

  postman(): Promise<KeptBody> {
    return this.bodies.of('postman.json', async () => {
      const document = JSON.parse(await this.openApiText()) as PostmanSource;
      return KeptBody.of(JSON_TYPE, JSON.stringify(postmanCollection(document)));
    });
  }

  async openApiText(): Promise<string> {
    return JSON.stringify(openApiDocument(this.gateway, this.servers(), await this.documents()));
  }
}
