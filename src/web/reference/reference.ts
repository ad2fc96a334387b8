import type { PageAssets } from '../pages/page-assets.js';
import type { ReferenceOwner } from './introduction.js';
import type { OpenApi } from './parts/openapi-parts.js';
import { referenceText } from './reference-frame.js';
import { referencePages } from './reference-pages.js';
import { searchIndex } from './search-index.js';

/** The REST reference, rendered from the OpenAPI document. */
export class Reference {
  private slugs: ReadonlySet<string> | null = null;

  constructor(
    private readonly assets: PageAssets,
    private readonly document: () => object,
  ) {}

  /** Whether there is a page with this slug. The slug of the first page is empty. */
  has(slug: string): boolean {
    this.slugs ??= new Set(this.pages(null).map((page) => page.slug));
    return this.slugs.has(slug);
  }

  /** The document of a page, as a project's host or the platform shows it. Throws if there is no such page. */
  textOf(slug: string, owner: ReferenceOwner | null): string {
    const pages = this.pages(owner);
    const page = pages.find((one) => one.slug === slug);
    if (!page) throw new Error(`the reference has no page ${slug}`);
    return referenceText(this.assets, { document: this.document() as OpenApi, owner, pages }, page);
  }

  /** The entries of the search, as JSON: the same on every host. */
  searchIndex(): string {
    return JSON.stringify(searchIndex(this.pages(null), this.document() as OpenApi));
  }

  private pages(owner: ReferenceOwner | null) {
    return referencePages(this.document() as OpenApi, owner);
  }
}
