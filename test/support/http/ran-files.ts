import { randomUUID } from 'node:crypto';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { eventually } from '../eventually.js';
import { type GatewayProcess, startGateway } from '../gateway-process.js';

const MARK = 'coverage of ';
/** `LoadWatch` asks for these every 20 ms: on a busy machine that is during each request. */
const OF_TIMERS = /(?:queued|waiting)Statements$/;
/** Runs in the gateway's process: after each request it prints the scripts whose functions have run since its start. */
const OBSERVER = `
import { subscribe } from 'node:diagnostics_channel';
import { Session } from 'node:inspector';
const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true });
const take = (done) => session.post('Profiler.takePreciseCoverage', (_, { result }) => done(result));
subscribe('http.server.request.start', () => take(() => {}));
subscribe('http.server.response.finish', ({ request }) => setImmediate(take, (scripts) => {
  const isRun = ({ functionName, ranges: [{ count }] }) => count > 0 && !${OF_TIMERS}.test(functionName);
  const ran = scripts.filter(({ functions }) => functions.some(isRun));
  console.log('${MARK}' + request.headers.observed, JSON.stringify(ran.map(({ url }) => url)));
}));`;
const BUILD = pathToFileURL('dist/').href;
/** Timers run during some of the requests, and not during all of them. */
const REQUESTS = 16;

/** Starts the built gateway with V8's precise coverage. */
export function startObservedGateway(databaseUrl: string): Promise<GatewayProcess> {
  const observer = `--import=data:text/javascript,${encodeURIComponent(OBSERVER)}`;
  return startGateway({ env: { DATABASE_URL: databaseUrl, LOG_LEVEL: 'info' }, nodeArgs: [observer] });
}

/** The files of `src`, sorted, with functions that ran for each of several requests. */
export async function filesOf(
  gateway: GatewayProcess,
  request: (number: number) => Request,
): Promise<string[]> {
  const runs: string[][] = [];
  for (let number = 0; number < REQUESTS; number += 1) runs.push(await urlsOf(gateway, request(number)));
  const [first = [], ...others] = runs;
  const urls = first.filter(
    (url) => url.startsWith(`${BUILD}src/`) && others.every((run) => run.includes(url)),
  );
  return urls
    .map((url) => fileURLToPath(url).slice(fileURLToPath(BUILD).length).replace(/\.js$/, '.ts'))
    .sort();
}

async function urlsOf(gateway: GatewayProcess, request: Request): Promise<string[]> {
  const id = randomUUID();
  request.headers.set('observed', id);
  const answer = await fetch(request);
  const text = await answer.text();
  if (!answer.ok || text.includes('"errors"')) throw new Error(text);
  const printed = new RegExp(`^${MARK}${id} (.*)$\n`, 'm');
  await eventually('coverage', () => printed.test(gateway.output()));
  return JSON.parse(printed.exec(gateway.output())?.[1] ?? '');
}
