/** The result of a check of the doctor. */
export interface CheckResult {
  ok: boolean;
  found: string;
  /** Null = nothing to do. */
  remedy: string | null;
}

export const ok = (found: string): CheckResult => ({ ok: true, found, remedy: null });
export const problem = (found: string, remedy: string): CheckResult => ({ ok: false, found, remedy });
