import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { AppError } from '../../ground/kernel/errors.js';
import { jsonIn } from '../../ground/kernel/json.js';
import { writeNewFile } from '../file-target.js';
import type { Output } from '../output.js';
import { DocumentProblem } from './document.js';
import { GENERATED, generated } from './generated-file.js';

const TIMEOUT_MS = 10_000;
const MOST_BYTES = 5_000_000;
const DEFAULT_FILE = 'petstore.ts';
const CLIENT = 'petstore-gateway/client';

export function typesCommand(program: Command, output: Output): void {
  program
    .command('types <source>')
    .description('Generate the types of an API for petstore-gateway/client, from its OpenAPI document.')
    .option('-o, --output <file>', 'where to write them: .ts, or .js with a .d.ts beside it', DEFAULT_FILE)
    .addHelpText(
      'after',
      `
The source is the address of a document, or a file. A file that this command has written is replaced, any other one is not.
64-bit integers become bigint. A document with a construct that has no exact type here is refused.

Examples:
  $ petstore types http://127.0.0.1:4000/v1/openapi.json
  $ petstore types schema/openapi.json -o src/petstore.js`,
    )
    .action(async (source: string, { output: path }: { output: string }, command: Command) => {
      const [, stem, extension] = /^(.*[^/.])\.(ts|mts|js|mjs)$/.exec(path) ?? [];
      if (stem === undefined || extension === undefined || /\.d$/.test(stem))
        command.error(
          'error: name the output .ts, .mts, .js or .mjs: the client needs its values, not only types',
        );
      const { types, description, operations } = read(await textOf(source), source);
      const files: Record<string, string> = extension?.endsWith('ts')
        ? { [path]: `${imports}\n\n${types}\n\n${DECLARED} = ${description};\n` }
        : {
            [path]: `export const description = ${description};\n`,
            [`${stem}.d.${extension === 'js' ? 'ts' : 'mts'}`]: `${imports}\n\n${types}\n\n${DECLARED.replace('const', 'declare const')};\n`,
          };
      for (const file of Object.keys(files)) await requireGenerated(file);
      for (const [file, text] of Object.entries(files)) {
        await writeNewFile({ path: file, isForced: true }, (write) => write(`${GENERATED}\n${text}`));
      }
      const written = Object.keys(files);
      output.result(
        { source, files: written, operations },
        `${written.join(' and ')}: ${operations} operations`,
      );
    });
}

const imports = `import type * as client from '${CLIENT}';`;
const DECLARED = 'export const description: client.Description<PetstoreApi>';

function read(text: string, source: string) {
  const document = jsonIn(text);
  if (document === undefined)
    throw new AppError(
      'invalid_request',
      `${source} is no JSON. The document is at /v1/openapi.json of the gateway.`,
    );
  try {
    return generated(document);
  } catch (error) {
    if (error instanceof DocumentProblem) throw new AppError('invalid_request', `${error.message}.`);
    throw error;
  }
}

async function textOf(source: string): Promise<string> {
  if (!/^https?:/i.test(source)) {
    return readFile(source, 'utf8').catch((error: NodeJS.ErrnoException) => {
      throw new AppError('invalid_request', `${source} can't be read: ${error.message}.`);
    });
  }
  const unreachable = (error: Error) => {
    const reason = error.cause instanceof Error ? error.cause.message : error.message;
    throw new AppError('invalid_request', `${source} can't be read: ${reason}.`);
  };
  const response = await fetch(source, { signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(unreachable);
  if (!response.ok)
    throw new AppError(
      'invalid_request',
      `${source} answered ${response.status}. The document is at /v1/openapi.json.`,
    );
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      bytes += chunk.byteLength;
      if (bytes > MOST_BYTES) throw new Error(`it is longer than ${MOST_BYTES} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    unreachable(error as Error);
  }
  return Buffer.concat(chunks).toString();
}

/** Throws `AppError conflict` if a file is there that somebody wrote. */
async function requireGenerated(path: string): Promise<void> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return GENERATED;
    throw new AppError('invalid_request', `${path} can't be replaced: ${error.message}.`);
  });
  if (!text.startsWith(GENERATED))
    throw new AppError(
      'conflict',
      `${path} was not written by this command. Remove it, or choose another file.`,
    );
}
