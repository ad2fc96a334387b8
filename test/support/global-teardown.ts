export default async function teardown(): Promise<void> {
  await Promise.all(globalThis.sqlServers.map((server) => server.stop()));
}
