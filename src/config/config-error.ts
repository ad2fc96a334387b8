/** Invalid settings. Each problem is one line that names the variable and the expected value. */
export class ConfigError extends Error {
  /** At least one. */
  readonly problems: readonly string[];

  /** The message is the first problem. */
  constructor(...problems: string[]) {
    super(problems[0]);
    this.problems = problems;
  }
}

/** Reads every setting of a group. Throws one `ConfigError` with all their problems. */
export function readAll<Settings extends object>(
  readers: {
    readonly [Name in keyof Settings]: () => Settings[Name];
  },
): Settings {
  const problems: string[] = [];
  const settings: Partial<Settings> = {};
  for (const name of Object.keys(readers) as (keyof Settings)[]) {
    try {
      settings[name] = readers[name]();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(...error.problems);
    }
  }
  if (problems.length > 0) throw new ConfigError(...problems);
  return settings as Settings;
}
