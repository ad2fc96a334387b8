interface Told {
  limit: number;
  remaining: number;
  /** ISO 8601. */
  resetAt: string;
}

/** A window as it stands by now: windows are aligned, so once it has ended the next one is known to be full. */
export function currentWindow({ limit, remaining, resetAt }: Told, seconds: number, nowMs: number) {
  const endMs = Date.parse(resetAt);
  if (nowMs < endMs) return { limit, remaining, resetAtMs: endMs };
  const lengthMs = seconds * 1000;
  return { limit, remaining: limit, resetAtMs: (Math.floor(nowMs / lengthMs) + 1) * lengthMs };
}
