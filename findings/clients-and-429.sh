#!/usr/bin/env bash
# What clients do after a 429 with `Retry-After: 37`, or with a day: the table of browser/pages/reference/guides/clients.md.
# Guess beforehand: a client that repeats a 429 waits for its Retry-After. Seen: half of them do, the others repeat
# after 1 s or less, and undici after 30 s.
# Fails if a row of the table changed, so run it on a quiet machine. `--print` prints the rows instead. Takes three minutes. curl, wget and Python with
# `requests` are the machine's own, and may have other versions than the table.
#   findings/clients-and-429.sh
# With a gateway it prints what 1, 4 and 8 instances of each client with one key get in 75 s: strikes, or a ban. The key
# needs the scopes `pets:read` and `keys`, and the quota of its project's day must be spent.
#   findings/clients-and-429.sh --gateway http://127.0.0.1:4000 --key pk_… [--instances 1,4,8] [--seconds 75]
set -euo pipefail
page=$(cd "$(dirname "$0")/.." && pwd)/browser/pages/reference/guides/clients.md
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
# Most clients need Node 22. This platform's package has the binary.
npm install --silent --no-audit --no-fund --prefix "$tools" "$(node -p '`node-${process.platform}-${process.arch}`')@24.21.0" \
  got@16.1.0 ky@2.1.0 axios@1.21.1 axios-retry@4.5.0 retry-axios@4.0.3 undici@8.13.1 ofetch@1.5.1 superagent@10.4.2 \
  wretch@3.0.9 fetch-retry@6.0.0 p-retry@9.0.0 make-fetch-happen@16.0.1 gaxios@8.3.3 openapi-fetch@0.17.0 \
  graphql-request@7.4.0 @reduxjs/toolkit@2.15.0 @tanstack/react-query@5.108.4 swr@2.5.1 react@19.3.1 react-dom@19.3.1 \
  happy-dom@21.0.4 @apollo/client@4.3.8 rxjs@7.8.2 graphql@16.15.0 @urql/core@6.0.3 @urql/exchange-retry@2.0.0 \
  graphql-sse@2.6.1 eventsource@4.1.1
cat > "$tools/clients.mjs" <<'CODE'
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { execFileSync, spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

const LARGEST = '9223372036854775807';
const WAIT_SECONDS = 37;
const SET = 'as the page says';
const require = createRequire(import.meta.url);
const json = async (response) => {
  if (!response.ok) throw Object.assign(new Error(`HTTP ${response.status}`), { status: response.status });
  return response.json();
};
const post = (method, body) => (method === 'POST' ? body : undefined);

/** Each returns the id that the caller gets; `target` is `{ url, method, headers, body }`. */
const CLIENTS = [
  ['got', 'got(url)', async ({ url, method, headers, body }) => {
    const { default: got } = await import('got');
    return (await got(url, { method, headers, ...(method === 'POST' ? { json: body } : {}) }).json()).id;
  }],
  ['ky', 'ky(url)', async ({ url, method, headers, body }) => {
    const { default: ky } = await import('ky');
    return (await ky(url, { method, headers, json: post(method, body) }).json()).id;
  }],
  ['axios', 'axios(url)', async ({ url, method, headers, body }) => {
    const { default: axios } = await import('axios');
    return (await axios({ url, method, headers, data: post(method, body) })).data.id;
  }],
  ['axios-retry', 'axiosRetry(axios)', (target) => retriedAxios(target, {})],
  ['axios-retry', 'retryDelay: (count) => count * 1000', (target) =>
    retriedAxios(target, { retryDelay: (count) => count * 1000 })],
  ['retry-axios', 'attach(axios)', async ({ url, method, headers, body }) => {
    const { default: axios } = await import('axios');
    const { attach } = await import('retry-axios');
    const own = axios.create();
    attach(own);
    return (await own({ url, method, headers, data: post(method, body) })).data.id;
  }],
  ['undici', 'new RetryAgent(agent)', async ({ url, method, headers, body }) => {
    const { Agent, fetch, RetryAgent } = await import('undici');
    const dispatcher = new RetryAgent(new Agent());
    return (await json(await fetch(url, { method, headers, body: post(method, JSON.stringify(body)), dispatcher }))).id;
  }],
  ['ofetch', 'ofetch(url)', async ({ url, method, headers, body }) => {
    const { ofetch } = await import('ofetch');
    return (await ofetch(url, { method, headers, body: post(method, body) })).id;
  }, { times: '1 within 1 s', count: 1, seconds: 1.5 }],
  ['superagent', '.retry(3)', async ({ url, method, headers, body }) => {
    const { default: superagent } = await import('superagent');
    return (await superagent(method, url).set(headers).send(post(method, body)).retry(3)).body.id;
  }, { times: '3 within 1 s', count: 3, seconds: 1.5 }],
  ['wretch', 'retry()', async ({ url, method, headers, body }) => {
    const { default: wretch } = await import('wretch');
    const { retry } = await import('wretch/middlewares');
    const request = wretch(url).headers(headers).middlewares([retry()]);
    return (await (method === 'POST' ? request.post(body) : request.get()).json()).id;
  }],
  ['fetch-retry', 'retryOn: [429]', async ({ url, method, headers, body }) => {
    const { default: wrap } = await import('fetch-retry');
    return (await json(await wrap(fetch)(url, { method, headers, body: post(method, JSON.stringify(body)), retryOn: [429] }))).id;
  }],
  ['p-retry', 'around a fetch that throws', async ({ url, method, headers, body }) => {
    const { default: pRetry } = await import('p-retry');
    const send = async () => json(await fetch(url, { method, headers, body: post(method, JSON.stringify(body)) }));
    return (await pRetry(send)).id;
  }],
  ['make-fetch-happen', 'retry: 3', async ({ url, method, headers, body }) => {
    const { default: send } = await import('make-fetch-happen');
    return (await json(await send(url, { method, headers, body: post(method, JSON.stringify(body)), retry: 3 }))).id;
  }],
  ['gaxios', 'retry: true', async ({ url, method, headers, body }) => {
    const { request } = await import('gaxios');
    return (await request({ url, method, headers, data: post(method, body), retry: true })).data.id;
  }, { times: '3 within 3 s', count: 3, seconds: 3 }],
  ['openapi-fetch', 'GET(path)', async ({ url, method, headers, body }) => {
    const { default: createClient } = await import('openapi-fetch');
    const { data, error } = await createClient().request(method.toLowerCase(), url, { headers, body: post(method, body) });
    if (error) throw error;
    return data.id;
  }],
  ['@reduxjs/toolkit', 'retry(fetchBaseQuery())', async ({ url, method, headers, body }) => {
    const { fetchBaseQuery, retry } = await import('@reduxjs/toolkit/query');
    const query = retry(fetchBaseQuery());
    const api = { signal: new AbortController().signal, dispatch() {}, getState() {}, endpoint: 'pets', type: 'query' };
    const { data, error } = await query({ url, method, headers, body: post(method, body) }, api, {});
    if (error) throw new Error(error.status);
    return data.id;
  }, { times: '5 within 40 s', count: 5, seconds: 40, early: '5' }],
  ['@tanstack/react-query', 'useQuery()', null, { isPage: true }],
  ['swr', 'useSWR()', null, { isPage: true, times: '2 within 37 s, no end', count: [1, 2, 3], seconds: 100, early: '1 to 2' }],
  ['@apollo/client', 'new RetryLink()', (target) => apollo(target, {}), { isGraphql: true }],
  ['@apollo/client', 'new RetryLink(), Accept: application/json', (target) => apollo(target, { accept: 'application/json' }),
    { isGraphql: true, times: '4 within 15 s', count: 4, seconds: 15, early: '4' }],
  ['@urql/core', 'retryExchange({})', async ({ url, headers }) => {
    const { Client, fetchExchange } = await import('@urql/core');
    const { retryExchange } = await import('@urql/exchange-retry');
    const exchanges = [retryExchange({}), fetchExchange];
    const client = new Client({ url, exchanges, preferGetMethod: false, fetchOptions: { headers } });
    const { data, error } = await client.query('{ pets(first: 1) { nodes { id } } }', {});
    if (error) throw error;
    return data.pets.nodes[0].id;
  }, { isGraphql: true }],
  ['graphql-request', 'request(url, query)', async ({ url, headers }) => {
    const { request } = await import('graphql-request');
    return (await request(url, '{ pets(first: 1) { nodes { id } } }', {}, headers)).pets.nodes[0].id;
  }, { isGraphql: true }],
  ['graphql-sse', 'subscribe()', async ({ url, headers }) => {
    const { createClient } = await import('graphql-sse');
    const client = createClient({ url, headers });
    const query = 'subscription { petChanges { pet { id } } }';
    return new Promise((resolve, reject) => {
      const sink = { next: ({ data }) => resolve(data.pets.nodes[0].id), error: reject, complete() {} };
      client.subscribe({ query }, sink);
    });
  }, { isGraphql: true, times: '5 within 50 s', count: 5, seconds: 50, early: '4 to 5' }],
  ['eventsource', 'new EventSource(url)', async ({ url, headers, isGraphql }) => {
    const { EventSource } = await import('eventsource');
    const send = (input, init) => fetch(input, { ...init, headers: { ...init.headers, ...headers } });
    const query = new URLSearchParams({ query: 'subscription { petChanges { pet { id } } }' });
    const stream = new EventSource(`${url}?${query}`, { fetch: send });
    return new Promise((resolve, reject) => {
      stream.addEventListener('next', ({ data }) => resolve(JSON.parse(data).data.pets.nodes[0].id));
      stream.addEventListener('error', ({ code }) => code && reject(new Error(code)));
    });
  }, { isGraphql: true, isGet: true }],
  ['requests', 'requests.get(url)', python('requests.request(METHOD, URL, headers=HEADERS, json=BODY)')],
  ['requests', 'HTTPAdapter(max_retries=3)', python('session().request(METHOD, URL, headers=HEADERS, json=BODY)')],
  ['urllib3', 'PoolManager()', python('pool(METHOD, URL, HEADERS, BODY)')],
  ['curl', '--retry 3', ({ url, method, headers, body }) =>
    printed('curl', ['-sf', '--retry', '3', ...inShell(headers), ...(method === 'POST' ? ['-d', JSON.stringify(body)] : []), url])],
  ['wget', '--retry-on-http-error=429', ({ url, method, headers, body }) =>
    printed('wget', ['-qO-', '--retry-on-http-error=429',
      ...inShell(headers).map((each) => (each === '-H' ? null : `--header=${each}`)).filter(Boolean),
      ...(method === 'POST' ? [`--post-data=${JSON.stringify(body)}`] : []), url])],
  // What the page says to set.
  ['axios-retry', SET, (target) => retriedAxios(target, {
    retryDelay: (count, error) => Math.max(count * 1000, 1000 * Number(error.response?.headers['retry-after'] ?? 0)) })],
  ['undici', SET, async ({ url, headers }) => {
    const { Agent, fetch, RetryAgent } = await import('undici');
    return (await json(await fetch(url, { headers, dispatcher: new RetryAgent(new Agent(), { maxTimeout: 86_400_000 }) }))).id;
  }],
  ['ofetch', SET, async ({ url, headers }) => {
    const { ofetch } = await import('ofetch');
    return (await ofetch(url, { headers, retryStatusCodes: [408, 500, 502, 503, 504] })).id;
  }],
  ['superagent', SET, async ({ url, headers }) => {
    const { default: superagent } = await import('superagent');
    return (await superagent.get(url).set(headers).retry(3, (error, response) => response?.status !== 429)).body.id;
  }],
  ['fetch-retry', SET, async ({ url, headers }) => {
    const { default: wrap } = await import('fetch-retry');
    const retryDelay = (attempt, error, response) => 1000 * Number(response?.headers.get('retry-after') ?? 2 ** attempt);
    return (await json(await wrap(fetch)(url, { headers, retryOn: [429], retryDelay }))).id;
  }],
  ['p-retry', SET, async ({ url, headers }) => {
    const { default: pRetry, AbortError } = await import('p-retry');
    return (await pRetry(async () => {
      const response = await fetch(url, { headers });
      if (response.status === 429) throw new AbortError(await response.text());
      return json(response);
    })).id;
  }],
  ['make-fetch-happen', SET, async ({ url, headers }) => {
    const { default: send } = await import('make-fetch-happen');
    return (await json(await send(url, { headers, retry: false }))).id;
  }],
  ['gaxios', SET, async ({ url, headers }) => {
    const { request } = await import('gaxios');
    return (await request({ url, headers, retryConfig: { statusCodesToRetry: [[500, 599]] } })).data.id;
  }],
  ['@reduxjs/toolkit', SET, async ({ url, headers }) => {
    const { fetchBaseQuery, retry } = await import('@reduxjs/toolkit/query');
    const base = fetchBaseQuery();
    const query = retry(async (...args) => {
      const result = await base(...args);
      if (result.error?.status === 429) retry.fail(result.error);
      return result;
    });
    const api = { signal: new AbortController().signal, dispatch() {}, getState() {}, endpoint: 'pets', type: 'query' };
    const { data, error } = await query({ url, headers }, api, {});
    if (error) throw new Error(error.status);
    return data.id;
  }],
  ['@tanstack/react-query', SET, null, { isPage: true }],
  ['swr', SET, null, { isPage: true }],
  ['@apollo/client', SET, (target) => apollo(target, { accept: 'application/json' }, {
    delay: (count, operation, error) => 1000 * Number(error.response?.headers.get('retry-after') ?? count) }), { isGraphql: true }],
].map(([name, call, run, options = {}], index) => ({ name, call, index, ...options, run: run ?? ((target) => inPage(name, { ...target, isSet: call === SET })) }));

async function retriedAxios({ url, method, headers, body }, options) {
  const { default: axios } = await import('axios');
  const { default: axiosRetry } = await import('axios-retry');
  const own = axios.create();
  axiosRetry(own, options);
  return (await own({ url, method, headers, data: post(method, body) })).data.id;
}

async function apollo({ url, headers, method }, own, options) {
  const { ApolloClient, gql, HttpLink, InMemoryCache } = await import('@apollo/client');
  const { RetryLink } = await import('@apollo/client/link/retry');
  const link = new RetryLink(options).concat(new HttpLink({ uri: url, headers: { ...headers, ...own } }));
  const client = new ApolloClient({ link, cache: new InMemoryCache() });
  if (method === 'POST') {
    const mutation = gql`mutation { createPet(input: { name: "Rex", categoryId: "1" }) { id } }`;
    return (await client.mutate({ mutation })).data.createPet.id;
  }
  return (await client.query({ query: gql`{ pets(first: 1) { nodes { id } } }` })).data.pets.nodes[0].id;
}

function python(call) {
  return ({ url, method, headers, body }) => {
    const code = `
import json, requests, sys, urllib3
URL, METHOD, HEADERS, BODY = json.loads(sys.argv[1])
def session():
    own = requests.Session()
    own.mount('http://', requests.adapters.HTTPAdapter(max_retries=3))
    return own
def pool(method, url, headers, body):
    answer = urllib3.PoolManager().request(method, url, headers=headers, json=body)
    answer.text, answer.ok = answer.data.decode(), answer.status < 400
    return answer
answer = ${call}
if not answer.ok: sys.exit(str(answer))
print(json.loads(answer.text)['id'])`;
    return printed('python3', ['-c', code, JSON.stringify([url, method, headers, post(method, body) ?? null])]);
  };
}

const inShell = (headers) => Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
const children = new Set();

/** The id that the program prints, as digits or in JSON. */
function printed(file, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'ignore'] });
    children.add(child);
    let output = '';
    child.stdout.on('data', (bytes) => (output += bytes));
    child.once('error', reject);
    child.once('close', (code) => {
      children.delete(child);
      const [, id] = /"id": ?(\d+)/.exec(output) ?? /^(\d+)$/m.exec(output) ?? [];
      if (id) resolve(id);
      else reject(new Error(`${file} ended with ${code}`));
    });
  });
}

let page;
const shown = new Map();

/** Asks the one process that looks like a browser: some clients repeat only there. */
function inPage(name, target) {
  page ??= startPage();
  const id = String(shown.size);
  page.stdin.write(`${JSON.stringify({ id, name, target })}\n`);
  return new Promise((resolve, reject) => shown.set(id, { resolve, reject }));
}

function startPage() {
  const child = spawn(process.execPath, [import.meta.filename, 'page'], { stdio: ['pipe', 'pipe', 'inherit'] });
  children.add(child);
  createInterface(child.stdout).on('line', (line) => {
    const { id, value } = JSON.parse(line);
    if (value === undefined) shown.get(id).reject(new Error('the page shows an error'));
    else shown.get(id).resolve(value);
  });
  return child;
}

async function servePage() {
  const { Window } = await import('happy-dom');
  const window = new Window({ url: 'http://127.0.0.1/' });
  Object.assign(globalThis, { window, document: window.document });
  globalThis.navigator ??= window.navigator;
  const { createElement, useEffect } = await import('react');
  const { createRoot } = await import('react-dom/client');
  const { QueryClient, QueryClientProvider, useQuery } = await import('@tanstack/react-query');
  const { default: useSWR, SWRConfig } = await import('swr');
  const show = (element) => createRoot(window.document.body.appendChild(window.document.createElement('main'))).render(element);
  const report = (id, data, error) => useEffect(() => {
    if (data || error) console.log(JSON.stringify({ id, value: data && String(data.id) }));
  }, [data, error]);
  const hooks = {
    '@tanstack/react-query': (id, load, isSet) => {
      const options = isSet ? { retry: (count, error) => error.status !== 429 && count < 3 } : {};
      const List = () => {
        const { data, error } = useQuery({ queryKey: [id], queryFn: load, ...options });
        report(id, data, error);
      };
      show(createElement(QueryClientProvider, { client: new QueryClient() }, createElement(List)));
    },
    swr: (id, load, isSet) => {
      const onErrorRetry = (error, key, config, revalidate, { retryCount }) => {
        if (error.status !== 429) setTimeout(() => revalidate({ retryCount }), 5000);
      };
      const List = () => {
        const { data } = useSWR(id, load, isSet ? { onErrorRetry } : {});
        report(id, data);
      };
      show(createElement(SWRConfig, { value: { provider: () => new Map() } }, createElement(List)));
    },
  };
  for await (const line of createInterface(process.stdin)) {
    const { id, name, target } = JSON.parse(line);
    hooks[name](id, async () => json(await fetch(target.url, { headers: target.headers })), target.isSet);
  }
}

/** Refuses each call until its time, with the answers of our gateway. */
async function startServer() {
  const calls = new Map();
  const server = createServer(async (request, response) => {
    const now = performance.now();
    for await (const _ of request);
    const [, situation, id, kind] = new URL(request.url, 'http://x').pathname.split('/');
    const times = calls.get(`${situation}/${id}`) ?? [];
    calls.set(`${situation}/${id}`, times);
    times.push(now);
    const seconds = { digits: 0, day: 86_400 }[situation] ?? WAIT_SECONDS;
    const left = seconds - (now - times[0]) / 1000;
    const accept = request.headers.accept ?? '';
    if (left > 0) {
      const type = accept.includes('application/graphql-response+json') ? 'application/graphql-response+json' : 'application/json';
      const retryAfterSeconds = Math.ceil(left);
      const message = `The quota is spent. Try again in ${retryAfterSeconds} s.`;
      const body = kind === 'graphql'
        ? { errors: [{ message, extensions: { code: 'RATE_LIMITED_DAY', status: 429, retryAfterSeconds } }] }
        : { code: 'rate_limited_day', message, status: 429 };
      response.writeHead(429, { 'Content-Type': type, 'Retry-After': retryAfterSeconds }).end(JSON.stringify(body));
    } else if (kind === 'graphql') {
      const text = `{"data":{"pets":{"nodes":[{"id":"${LARGEST}"}]},"createPet":{"id":"${LARGEST}"}}}`;
      if (accept.includes('text/event-stream'))
        response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(`event: next\ndata: ${text}\n\nevent: complete\ndata:\n\n`);
      else response.writeHead(200, { 'Content-Type': 'application/json' }).end(text);
    } else response.writeHead(200, { 'Content-Type': 'application/json' }).end(`{"id":${LARGEST}}`);
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  return { url: `http://127.0.0.1:${server.address().port}`, timesOf: (id) => calls.get(id) ?? [] };
}

const pause = (seconds) => new Promise((wake) => setTimeout(wake, seconds * 1000));

async function printTable() {
  const { url, timesOf } = await startServer();
  const run = (client, situation, method) => {
    const kind = client.isGraphql ? 'graphql' : 'rest';
    const headers = { 'Idempotency-Key': 'one' };
    if (method === 'POST' && !client.isGraphql) headers['Content-Type'] = 'application/json';
    const target = { url: `${url}/${situation}/${client.index}/${kind}`, method, headers, body: { name: 'Rex', categoryId: 1 } };
    const call = { isOver: false, id: null, times: () => timesOf(`${situation}/${client.index}`) };
    client.run(target).then((id) => (call.id = id), () => {}).finally(() => (call.isOver = true));
    return call;
  };
  const rows = CLIENTS.map((client) => ({
    client,
    get: run(client, 'get', client.isGraphql && !client.isGet ? 'QUERY' : 'GET'),
    post: client.isPage || client.call === SET || client.name === 'graphql-sse' || client.isGet ? null : run(client, 'post', 'POST'),
    day: run(client, 'day', client.isGraphql && !client.isGet ? 'QUERY' : 'GET'),
    digits: run(client, 'digits', client.isGraphql && !client.isGet ? 'QUERY' : 'GET'),
  }));
  await pause(100);
  for (const { client, get, day } of rows.filter(({ client }) => client.call === SET)) {
    const early = [...earlier(get.times(), WAIT_SECONDS), ...earlier(day.times(), 86_400)];
    if (early.length > 0 || get.times().length === 0) throw new Error(`${client.name} ${SET}: after ${early}`);
  }
  const lines = rows.filter(({ client }) => client.call !== SET).map(({ client, get, post, day, digits }) => {
    const early = earlier(get.times(), WAIT_SECONDS).length;
    const cells = [
      `${client.name} ${versionOf(client.name)} \`${client.call}\``,
      behaviour(client, get, WAIT_SECONDS),
      post ? behaviour(client, post, WAIT_SECONDS) : '–',
      client.early && within(client.early, early) ? client.early : early,
      behaviour(client, day, 86_400),
      String(digits.id) === LARGEST ? 'exact' : digits.id === null ? 'none' : 'rounded',
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return lines;
}

/** The seconds of the requests after the first and before the time, from the first on. */
const earlier = (times, seconds) =>
  times.slice(1).map((time) => (time - times[0]) / 1000).filter((time) => time < seconds - 0.5);

function behaviour({ times: known, count, seconds }, call, wait) {
  const times = call.times();
  if (times.length === 0) return 'nothing';
  const early = earlier(times, wait);
  if (early.length === 0 && times.length > 1) return 'waits';
  if (early.length === 0) return call.isOver ? 'one request' : 'waits';
  const isKnown = [count].flat().includes(early.length) || wait > WAIT_SECONDS;
  if (known && (isKnown || early.length < count) && early.at(-1) <= seconds) return known;
  return `after ${early.slice(0, 5).map(Math.round).join(', ')} s${early.length > 5 ? ' …' : ''}`;
}

const within = (range, number) => {
  const [from, to = from] = range.split(' to ').map(Number);
  return from <= number && number <= to;
};

function versionOf(name) {
  if (['requests', 'urllib3'].includes(name))
    return execFileSync('python3', ['-c', `import importlib.metadata as m; print(m.version('${name}'))`]).toString().trim();
  if (['curl', 'wget'].includes(name)) return /\d+[.\d]*/.exec(execFileSync(name, ['--version']).toString())[0];
  return JSON.parse(readFileSync(`${import.meta.dirname}/node_modules/${name}/package.json`)).version;
}

/** The strikes of each client at a real gateway, each with a key of its own. */
async function printStrikes({ gateway, key, instances, seconds }) {
  const ask = async (token, path, body) =>
    (await fetch(gateway + path, { method: body ? 'POST' : 'GET', body, headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' } })).json();
  const results = CLIENTS.map(() => []);
  for (const count of instances.split(',').map(Number)) {
    const expiresAt = new Date(Date.now() + (Number(seconds) + 60) * 1000).toISOString();
    const query = `mutation { createApiKey(input: { name: "clients", scopes: [PETS_READ], expiresAt: "${expiresAt}" }) { token } }`;
    const keys = [];
    for (const _ of CLIENTS) {
      const { data, errors } = await ask(key, '/graphql', JSON.stringify({ query }));
      if (!data) throw new Error(errors[0].message);
      keys.push(data.createApiKey.token);
    }
    for (const client of CLIENTS) {
      const headers = { Authorization: `Bearer ${keys[client.index]}` };
      const url = gateway + (client.isGraphql ? '/graphql' : '/v1/pets');
      for (let started = 0; started < count; started += 1)
        client.run({ url, method: client.isGraphql && !client.isGet ? 'QUERY' : 'GET', headers, body: {} }).catch(() => {});
    }
    await pause(Number(seconds));
    for (const { index } of CLIENTS) {
      const { ban } = await ask(keys[index], '/v1/rate_limit');
      results[index].push(ban.untilSeconds !== null || ban.nextStepMinutes > 1 ? 'ban' : ban.strikes);
    }
    for (const child of children) if (child !== page) child.kill();
    if (count !== Number(instances.split(',').at(-1))) await pause(Math.max(0, 61 - Number(seconds)));
  }
  return CLIENTS.map(({ name, call, index }) => `| ${name} ${versionOf(name)} \`${call}\` | ${results[index].join(' | ')} |`);
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    gateway: { type: 'string' },
    key: { type: 'string' },
    instances: { type: 'string', default: '1,4,8' },
    seconds: { type: 'string', default: '75' },
    print: { type: 'boolean' },
    compare: { type: 'string' },
  },
});
process.on('unhandledRejection', () => {});
if (positionals[0] === 'page') await servePage();
else {
  const lines = values.gateway ? await printStrikes(values) : await printTable();
  for (const child of children) child.kill();
  // The machine's own programs may have another version.
  const plain = (line) => line.replace(/^(\| (?:curl|wget|requests|urllib3)) [\d.]+/, '$1');
  const known = values.gateway || values.print ? [] : readFileSync(values.compare, 'utf8').split('\n').map(plain);
  const changed = lines.filter((line) => !known.includes(plain(line)));
  console.log(lines.join('\n'));
  if (!values.gateway && !values.print && changed.length > 0) console.error(`\nThe page has no such row:\n${changed.join('\n')}`);
  process.exit(values.gateway || values.print || changed.length === 0 ? 0 : 1);
}
CODE
"$tools"/node_modules/node-*/bin/node "$tools/clients.mjs" --compare "$page" "$@"
