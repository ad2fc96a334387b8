import type { Readable } from 'node:stream';
import type { Command } from 'commander';
import type { Output } from '../output.js';
import { exportCommand } from './pets-export.command.js';
import { importCommand } from './pets-import.command.js';

export function petsCommands(program: Command, output: Output, stdin: Readable): void {
  const pets = program.command('pets').description('Pets of a project.');
  importCommand(pets, output, stdin);
  exportCommand(pets, output);
}
