#!/usr/bin/env -S node --max-semi-space-size=8 --max-old-space-size=96
import 'reflect-metadata';
import { EXIT, Output } from './output.js';
import { runProgram } from './program.js';

process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  // `petstore … | head` closes the pipe early, which is no error.
  if (code === 'EPIPE') process.exit();
  console.error(`Standard output can't be written: ${message}`);
  process.exit(EXIT.refused);
});
process.exitCode = await runProgram(process.argv.slice(2), new Output(process.argv.includes('--json')));
