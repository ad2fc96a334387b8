import type { FastifyReply, FastifyRequest, preParsingHookHandler } from 'fastify';
import { AppError } from '../../../ground/kernel/errors.js';

const MAX_BYTES = 64 * 1024 * 1024;
/** A parsed value without its text. The largest is an object whose name no other has. */
const VALUE_BYTES = 100;
/**
 * A project may have this part of what then stays free. So one project alone gets a fifth of all, and ten greedy ones leave
 * a tenth.
 */
const PART_OF_FREE = 1 / 4;

declare module 'fastify' {
  interface FastifyRequest {
    /** The memory of the request's body; null = it has none. */
    bodyShare: BodyShare | null;
  }
}

/** Memory that bodies occupy, as bytes and as parsed values, from before they are received until their work ends. D-163. */
export class BodiesInFlight {
  private readonly bytesOf = new Map<bigint, number>();
  private bytes = 0;

  constructor(private readonly maxBytes = MAX_BYTES) {}

  /** Returns the share of a known caller's request, which ends with the response. */
  shareOf(request: FastifyRequest, reply: FastifyReply): BodyShare | null {
    const { caller } = request;
    if (!request.bodyShare && caller) {
      const share = new BodyShare((bytes) => this.add(caller.projectId, bytes));
      // The client may have disconnected during admission.
      if (reply.raw.destroyed) share.end();
      else reply.raw.on('close', () => share.end());
      request.bodyShare = share;
    }
    return request.bodyShare;
  }

  /** Makes room for a body before it is received. A body of unknown length counts with the largest length. */
  readonly expectBody: preParsingHookHandler = (request, reply, _, done) => {
    const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
    const bytes = coding === undefined ? Number(length ?? 0) : request.routeOptions.bodyLimit;
    // A larger body is refused before it is received.
    if (bytes > 0 && bytes <= request.routeOptions.bodyLimit) this.shareOf(request, reply)?.set(bytes);
    done();
  };

  private add(projectId: bigint, bytes: number): void {
    const ofProject = (this.bytesOf.get(projectId) ?? 0) + bytes;
    if (bytes > 0 && ofProject > (this.maxBytes - this.bytes - bytes) * PART_OF_FREE) {
      throw new AppError('unavailable', 'The project sends too much at once. Try again shortly.');
    }
    this.bytes += bytes;
    if (ofProject === 0) this.bytesOf.delete(projectId);
    else this.bytesOf.set(projectId, ofProject);
  }
}

/** The bytes that one request occupies. */
export class BodyShare {
  private bytes = 0;
  private works = 0;
  private isOver = false;

  constructor(private readonly add: (bytes: number) => void) {}

  /** Throws `AppError unavailable` if there is no room for more. */
  set(bytes: number, values = 0): void {
    // The last piece of a body may arrive after its response.
    const held = this.isOver && this.works === 0 ? 0 : bytes + values * VALUE_BYTES;
    this.add(held - this.bytes);
    this.bytes = held;
  }

  /** Runs work that needs the body, even if the client disconnects meanwhile. */
  during<T>(work: () => T): T {
    this.works += 1;
    const end = () => {
      this.works -= 1;
      this.release();
    };
    try {
      const result = work();
      if (result instanceof Promise) return result.finally(end) as T;
      end();
      return result;
    } catch (error) {
      end();
      throw error;
    }
  }

  /** Called when the response has been sent, or cannot be. */
  end(): void {
    this.isOver = true;
    this.release();
  }

  private release(): void {
    if (this.isOver && this.works === 0) this.set(0);
  }
}
