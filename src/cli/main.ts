#!/usr/bin/env -S node --max-opt=2 --max-semi-space-size=2 --max-old-space-size=96
import 'reflect-metadata';
import { nearestGateway } from './nearest-gateway.js';
import { EXIT, Output } from './output.js';
import { runProgram } from './program.js';

const output = new Output(process.argv.includes('--json'));
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  // `petstore … | head` closes the pipe early, which is no error.
  if (code === 'EPIPE') process.exit(output.exitCode);
  console.error(`Standard output can't be written: ${message}`);
  process.exit(EXIT.refused);
});
try {
  process.exitCode = await runProgram(await nearestGateway(process.cwd()), process.argv.slice(2), output);
} catch (error) {
  output.fail('invalid_configuration', (error as Error).message);
  process.exitCode = EXIT.usage;
}
