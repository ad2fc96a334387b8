/** Units a plan allows per UTC minute and UTC day; `perDay` null = no day window, as for addresses. Spec: Limits. */
export interface Quota {
  readonly perMinute: number;
  readonly perDay: number | null;
}
