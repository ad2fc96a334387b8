/** The series of an answer of `/metrics`. */
export class ExposedMetrics {
  private readonly series = new Map<string, Record<string, string>[]>();
  private readonly types = new Map<string, string>();

  constructor(text: string) {
    for (const line of text.split('\n')) this.readLine(line);
  }

  private readLine(line: string): void {
    const [, metric, type = ''] = /^# TYPE (\S+) (.*)$/.exec(line) ?? [];
    if (metric !== undefined) this.types.set(metric, type);
    const [, name, labels = ''] = /^([a-z_]\w*)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
    if (name === undefined) return;
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, value]) => [
      label,
      value,
    ]);
    this.series.set(name, [...(this.series.get(name) ?? []), Object.fromEntries(pairs)]);
  }

  /** Names of metrics, without the suffixes of histograms. */
  get metrics(): string[] {
    return [...this.types.keys()];
  }

  typeOf(metric: string): string | undefined {
    return this.types.get(metric);
  }

  /** Null = there is no such series. */
  labelsOf(name: string): string[] | null {
    const found = this.series.get(name);
    return found ? [...new Set(found.flatMap((labels) => Object.keys(labels)))] : null;
  }

  valuesOf(name: string, label: string): string[] {
    return (this.series.get(name) ?? []).flatMap((labels) => labels[label] ?? []);
  }
}
