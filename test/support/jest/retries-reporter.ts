interface TestResult {
  fullName: string;
  status: string;
  /** How often the test ran. */
  invocations?: number;
}
interface RunResults {
  testResults: { testResults: TestResult[] }[];
}

/** Prints at the end of a run how many tests ran twice, and which. The default reporter shows why. */
export default class RetriesReporter {
  onRunComplete(_: unknown, { testResults }: RunResults): void {
    const retried = testResults
      .flatMap((file) => file.testResults)
      .filter(({ invocations = 1 }) => invocations > 1)
      .map(({ fullName, status }) => `  ${status}: ${fullName}`);
    process.stderr.write([`Retries used: ${retried.length}`, ...retried, ''].join('\n'));
  }
}
