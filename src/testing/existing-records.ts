import type { Gateway } from '../app/gateway.js';
import type { DefinedNoun } from '../noun/define-noun.js';
import { rest } from './http-client.js';
import { plain, restBody } from './inputs.js';
import type { NounFacts } from './noun-facts.js';
import type { TestApp } from './tested-app.js';

/** The app, whose new projects have these records. Throws an `Error` for a noun that is not served, or an invalid record. */
export async function withExisting(
  app: TestApp,
  { name: gatewayName, nouns }: Gateway,
  existing: NounFacts['existing'] = {},
): Promise<TestApp> {
  const stated = Object.entries(existing).map(([name, inputs]) => {
    const noun = nouns.find(({ description }) => description.singular === name);
    if (!noun || !('table' in noun))
      throw new Error(
        `The gateway ${gatewayName} has no noun "${name}" of defineNoun, which \`existing\` states.`,
      );
    return { ...(noun as DefinedNoun), inputs };
  });
  if (stated.length === 0) return app;
  const run = (sql: string) => app.db.transaction((manager) => manager.query(sql));
  const first = await app.tenant();
  for (const { description, model, inputs } of stated) {
    for (const [at, input] of inputs.entries()) {
      const body = restBody(description, plain(input));
      const { status, text } = await rest(app.url, `/v1/${description.plural}`, {
        method: 'POST',
        token: first.token,
        body,
      });
      const [, id] = /"id":(\d+)/.exec(text) ?? [];
      if (status !== 201 || !id)
        throw new Error(`The ${description.singular} ${at + 1} of \`existing\` is refused: ${text}`);
      // The same input is then valid in each project.
      await run(
        `UPDATE ${model.table} SET id = ${at + 1} WHERE project_id = ${first.projectId} AND id = ${id}`,
      );
    }
  }
  return {
    ...app,
    async tenant(options) {
      const made = await app.tenant(options);
      // Copied, because a request would spend quota of the project.
      for (const { table, model } of stated) {
        const columns = (table.table.columns ?? []).map(({ name }) => `\`${name}\``);
        const copied = columns.map((column) => (column === '`project_id`' ? made.projectId : column));
        await run(
          `INSERT INTO ${model.table} (${columns}) SELECT ${copied} FROM ${model.table} WHERE project_id = ${first.projectId}`,
        );
      }
      return made;
    },
  };
}
