import { ConfigError, httpEndpoint, list, oneOf, readAll } from './values.js';

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
/** The specification allows any names; longer ones would count in each export. */
const MAX_CHARACTERS = 1_000;

/** The settings of OpenTelemetry that the gateway reads, by their standard names. */
export interface TracingSettings {
  /** Where spans are sent, as OTLP in JSON. */
  readonly tracesUrl: string;
  /** Secret: they may hold a token. */
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  readonly resourceAttributes: Readonly<Record<string, string>>;
  readonly sampler: (typeof SAMPLERS)[number];
  /** The share of traces that a ratio sampler records, from 0 to 1. */
  readonly sampledShare: number;
}

/** Null = there is no collector, and nothing is traced. Wrong settings are refused in both cases. */
export function tracingSettings(text: (name: string) => string | null): TracingSettings | null {
  const endpoint = text('OTEL_EXPORTER_OTLP_ENDPOINT');
  const settings = readAll<TracingSettings>({
    tracesUrl: () =>
      `${httpEndpoint('OTEL_EXPORTER_OTLP_ENDPOINT', endpoint ?? 'http://127.0.0.1:4318')}/v1/traces`,
    headers: () => pairs('OTEL_EXPORTER_OTLP_HEADERS', text('OTEL_EXPORTER_OTLP_HEADERS')),
    serviceName: () => text('OTEL_SERVICE_NAME') ?? 'petstore-gateway',
    resourceAttributes: () => pairs('OTEL_RESOURCE_ATTRIBUTES', text('OTEL_RESOURCE_ATTRIBUTES')),
    sampler: () =>
      oneOf('OTEL_TRACES_SAMPLER', text('OTEL_TRACES_SAMPLER') ?? 'parentbased_always_on', SAMPLERS),
    sampledShare: () => share('OTEL_TRACES_SAMPLER_ARG', text('OTEL_TRACES_SAMPLER_ARG')),
  });
  return endpoint === null ? null : settings;
}

function share(name: string, value: string | null): number {
  if (value === null) return 1;
  if (/^(?:0(?:\.\d+)?|1(?:\.0+)?|\.\d+)$/.test(value)) return Number(value);
  throw new ConfigError(`${name} must be a number from 0 to 1, such as 0.01, not ${JSON.stringify(value)}.`);
}

/** `name=value,name=value`, percent-encoded. The message repeats no value, because it may be a token. */
function pairs(name: string, value: string | null): Record<string, string> {
  const entries = list(value).map((entry) => {
    const [, key = '', encoded = ''] = /^([\w.!#$%&'*+^`|~-]+)\s*=\s*([\x20-\x7e]*)$/.exec(entry) ?? [];
    const decoded = decode(encoded);
    if (key === '' || decoded === null || entry.length > MAX_CHARACTERS)
      throw new ConfigError(`${name} must be name=value pairs separated by commas, percent-encoded.`);
    return [key, decoded];
  });
  return Object.fromEntries(entries);
}

function decode(text: string): string | null {
  try {
    const decoded = decodeURIComponent(text);
    // A line feed in a header would end the process.
    return /^[\x20-\x7e\u00a0-\u00ff]*$/.test(decoded) ? decoded : null;
  } catch {
    return null;
  }
}
