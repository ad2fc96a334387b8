import type { Readable } from 'node:stream';
import type { Command } from 'commander';
import { capitalized, NOUNS } from '../../nouns.js';
import type { Output } from '../output.js';
import { exportCommand } from './export.command.js';
import { importCommand } from './import.command.js';

/** `import` and `export` of each noun, in a group of its name. */
export function filesCommands(program: Command, output: Output, stdin: Readable): void {
  for (const noun of NOUNS) {
    const group = program.command(noun.plural).description(`${capitalized(noun.plural)} of a project.`);
    importCommand(group, noun, output, stdin);
    exportCommand(group, noun, output);
  }
}
