import type { ApiKeyService } from '../api-keys/api-key.service.js';
import type { Caller } from '../caller.js';
import { AppError } from '../errors.js';

/** The one step between a request and either door: from the bearer token to the caller. */
export class Admission {
  constructor(private readonly apiKeys: ApiKeyService) {}

  /**
   * Who sends a request with this `Authorization` header. Throws `AppError unauthorized`, in the same words whatever is
   * wrong with the key. Spec: Authentication; RFC 6750 §2.1.
   */
  async admit(authorization: string | undefined): Promise<Caller> {
    const [, token] = /^bearer +([^ ]+)$/i.exec(authorization ?? '') ?? [];
    const caller = token === undefined ? null : await this.apiKeys.identify(token);
    if (caller) return caller;
    throw new AppError(
      'unauthorized',
      'The API key is missing or not valid. Send it as "Authorization: Bearer <API_KEY>".',
    );
  }
}
