/** Settings that can't be used, each told in one line that names the variable and says what it should be. */
export class ConfigError extends Error {
  /** At least one. */
  readonly problems: readonly string[];

  /** The message is the first of the problems. */
  constructor(...problems: string[]) {
    super(problems[0]);
    this.problems = problems;
  }
}

/** Reads every setting of a group. Throws one `ConfigError` with the problems of all. */
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
