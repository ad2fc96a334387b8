#!/usr/bin/env -S node --max-opt=2 --max-semi-space-size=2 --max-old-space-size=96
import 'reflect-metadata';
import type { ConfigError } from '../ground/config/config.js';
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
const gateway = await nearestGateway(process.cwd()).catch((error: ConfigError) => error);
process.exitCode = await runProgram(gateway, process.argv.slice(2), output);
