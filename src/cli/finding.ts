/** What a check of the doctor found. */
export interface Finding {
  ok: boolean;
  found: string;
  /** What to do; null = nothing. */
  remedy: string | null;
}

export const ok = (found: string): Finding => ({ ok: true, found, remedy: null });
export const problem = (found: string, remedy: string): Finding => ({ ok: false, found, remedy });
