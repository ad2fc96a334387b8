import type { Html } from '../pages/html.js';
import { AUTHENTICATION } from './guides/authentication.js';
import { ERROR_GUIDE } from './guides/errors.js';
import { type Guide, type GuideContext, guideBody, type Section } from './guides/guide.js';
import { IDEMPOTENCY } from './guides/idempotency.js';
import { LIMITS } from './guides/limits.js';
import { PAGINATION } from './guides/pagination.js';
import { VERSIONS } from './guides/versions.js';
import { introductionBody, type ReferenceOwner } from './introduction.js';
import { objectsBody } from './objects-page.js';
import { operationBody } from './operation-page.js';
import { type LocatedOperation, type OpenApi, operationsOf } from './parts/openapi-parts.js';

export interface ReferencePage {
  /** The last part of its path; empty for the first page. */
  slug: string;
  title: string;
  group: 'Get started' | 'Guides' | 'Operations' | 'Data';
  operation?: LocatedOperation;
  /** The parts that a list beside a guide links to. */
  sections: Section[];
  body: () => Html;
}

const GUIDES: readonly Guide[] = [AUTHENTICATION, PAGINATION, IDEMPOTENCY, LIMITS, ERROR_GUIDE, VERSIONS];

/** Every page of the reference, in reading order. */
export function referencePages(document: OpenApi, owner: ReferenceOwner | null): ReferencePage[] {
  const base = owner ? `${owner.origin}/v1` : (document.servers[0]?.url ?? '/v1');
  const origin = base.replace(/\/v1$/, '');
  const context: GuideContext = { document, base };
  return [
    {
      slug: '',
      title: 'Introduction',
      group: 'Get started',
      sections: [],
      body: () => introductionBody(document, owner, origin),
    },
    ...GUIDES.map((guide) => ({
      slug: guide.slug,
      title: guide.title,
      group: 'Guides' as const,
      sections: guide.sections(context),
      body: () => guideBody(guide, context),
    })),
    ...operationsOf(document).map((operation) => ({
      slug: operation.operationId,
      title: operation.summary,
      group: 'Operations' as const,
      operation,
      sections: [],
      body: () => operationBody(operation, document, origin),
    })),
    { slug: 'objects', title: 'Objects', group: 'Data', sections: [], body: () => objectsBody(document) },
  ];
}

export function pageUrl({ slug }: Pick<ReferencePage, 'slug'>): string {
  return slug === '' ? '/v1/docs' : `/v1/docs/${slug}`;
}
