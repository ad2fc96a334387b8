import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { packageRoot } from '../../../src/ground/kernel/package.js';

export interface ComposeService {
  image?: string;
  build?: string;
  env_file?: { path: string; required: boolean }[];
  environment?: Record<string, string>;
  command?: string | string[];
  volumes?: string[];
  ports?: string[];
  networks?: string[] | Record<string, { aliases: string[] }>;
  read_only?: boolean;
  stop_grace_period?: string;
  deploy?: { replicas: number };
  depends_on?: Record<string, unknown> | string[];
}

export interface Compose {
  services: Record<string, ComposeService>;
  networks: Record<string, { ipam: { config: { subnet: string }[] } }>;
  volumes: Record<string, unknown>;
}

export const COMPOSE_FILES = ['docker-compose.yml', 'docker-compose.cluster.yml'] as const;
type ComposeFile = (typeof COMPOSE_FILES)[number];

export const composeText = (file: ComposeFile) => readFileSync(join(packageRoot(), file), 'utf8');

/** The file with these values of `.env`, as `docker compose` reads it: `$$` is a dollar sign, and `:?` requires a value. */
export function readCompose(file: ComposeFile, env: Record<string, string>): Compose {
  const filled = composeText(file).replaceAll(/\$(?:\$|\{(\w+):([-?])([^}]*)\})/g, (_, name, sign, rest) => {
    if (name === undefined) return '$';
    if (sign === '?' && !env[name]) throw new Error(`${name} ${rest}`);
    return env[name] || rest;
  });
  return parseCompose(filled);
}

export const parseCompose = (text: string): Compose => parse(text, { merge: true });

/** The names of the services that this one needs. */
export const neededBy = ({ depends_on = [] }: ComposeService): string[] =>
  Array.isArray(depends_on) ? depends_on : Object.keys(depends_on);
