import { each, httpEndpoint, oneOf, refuse, type Variables } from './values.js';

/** The specification allows any names; longer ones would count in each export. */
const MAX_CHARACTERS = 1_000;

/** The settings of OpenTelemetry that the gateway reads, by their standard names. */
export type TracingSettings = NonNullable<ReturnType<typeof tracingSettings>>;

/** Null = there is no collector, and nothing is traced. Wrong settings are refused in both cases. */
export function tracingSettings({ read, text }: Variables) {
  const settings = {
    /** Where spans are sent, as OTLP in JSON. */
    tracesUrl: `${read('OTEL_EXPORTER_OTLP_ENDPOINT', httpEndpoint, 'http://127.0.0.1:4318')}/v1/traces`,
    /** Secret: they may hold a token. */
    headers: read('OTEL_EXPORTER_OTLP_HEADERS', pairs, ''),
    /** Null = the slug of the gateway, and `-gateway`. */
    serviceName: text('OTEL_SERVICE_NAME'),
    resourceAttributes: read('OTEL_RESOURCE_ATTRIBUTES', pairs, ''),
    sampler: read(
      'OTEL_TRACES_SAMPLER',
      oneOf([
        'always_on',
        'always_off',
        'traceidratio',
        'parentbased_always_on',
        'parentbased_always_off',
        'parentbased_traceidratio',
      ]),
      'parentbased_always_on',
    ),
    /** The share of traces that a ratio sampler records, from 0 to 1. */
    sampledShare: read('OTEL_TRACES_SAMPLER_ARG', share, '1'),
  };
  return text('OTEL_EXPORTER_OTLP_ENDPOINT') === null ? null : settings;
}

function share(name: string, value: string): number {
  if (/^(?:0(?:\.\d+)?|1(?:\.0+)?|\.\d+)$/.test(value)) return Number(value);
  return refuse(name, 'a number from 0 to 1, such as 0.01', value);
}

/** `name=value,name=value`, percent-encoded. */
function pairs(name: string, value: string): Record<string, string> {
  return Object.fromEntries(each(pair)(name, value));
}

/** The value may be a token. */
function pair(name: string, entry: string): [key: string, value: string] {
  const [, key = '', encoded = ''] = /^([\w.!#$%&'*+^`|~-]+)\s*=\s*([\x20-\x7e]*)$/.exec(entry) ?? [];
  const decoded = decode(encoded);
  if (key !== '' && decoded !== null && entry.length <= MAX_CHARACTERS) return [key, decoded];
  return refuse(name, 'name=value pairs separated by commas, percent-encoded');
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
