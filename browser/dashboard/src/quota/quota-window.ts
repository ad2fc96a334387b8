interface Told {
  limit: number;
  remaining: number;
  /** ISO 8601. */
  resetAt: string;
}

/** The window at this moment. Windows are aligned, so after its end the next window must be full. */
export function currentWindow({ limit, remaining, resetAt }: Told, seconds: number, nowMs: number) {
  const endMs = Date.parse(resetAt);
  if (nowMs < endMs) return { limit, remaining, resetAtMs: endMs };
  const lengthMs = seconds * 1000;
  return { limit, remaining: limit, resetAtMs: (Math.floor(nowMs / lengthMs) + 1) * lengthMs };
}
