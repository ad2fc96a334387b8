import type { Answer, RecordType } from 'dns-packet';

export type DoubleType = 'A' | 'AAAA' | 'CAA' | 'CNAME' | 'DNAME' | 'DS' | 'NS' | 'RRSIG' | 'SOA' | 'TXT';

interface StoredRecord {
  name: string;
  type: DoubleType;
  value: string;
  ttlSeconds: number;
}

export interface Said {
  rcode: 'NOERROR' | 'NXDOMAIN' | 'SERVFAIL' | 'REFUSED';
  isAuthoritative: boolean;
  answers: Answer[];
  authorities: Answer[];
  /** The addresses of the name servers of a referral. */
  additionals: Answer[];
}

/** The data of a DNS server and its answers. Values are as in a zone file, names without the trailing dot. */
export class DnsZones {
  private readonly records: StoredRecord[] = [];
  private readonly zones = new Set<string>();

  /**
   * Adds a zone: its SOA, NS records, and an A record for each name server that has an address. `negativeTtlSeconds`:
   * how long caches may keep a negative answer.
   */
  zone(
    name: string,
    nameServers: Record<string, string | null> = {},
    {
      ttlSeconds = 3600,
      negativeTtlSeconds = 300,
    }: { ttlSeconds?: number; negativeTtlSeconds?: number } = {},
  ): void {
    this.zones.add(name);
    const [first = `ns.${name}`] = Object.keys(nameServers);
    this.set(
      name,
      'SOA',
      `${first} hostmaster.${name} 1 7200 3600 1209600 ${negativeTtlSeconds}`,
      ttlSeconds,
    );
    if (Object.keys(nameServers).length > 0) this.set(name, 'NS', Object.keys(nameServers), ttlSeconds);
    for (const [server, address] of Object.entries(nameServers)) {
      if (address !== null) this.set(server, address.includes(':') ? 'AAAA' : 'A', address, ttlSeconds);
    }
  }

  /** Replaces the records of a name and type. `*.example.com` is a wildcard; `0 issue "ca.test"` a CAA value. */
  set(name: string, type: DoubleType, values: string | readonly string[], ttlSeconds = 300): void {
    this.remove(name, type);
    for (const value of [values].flat())
      this.records.push({ name: name.toLowerCase(), type, value, ttlSeconds });
  }

  /** Removes the records of a name, of one type or of all types. */
  remove(name: string, type?: DoubleType): void {
    const isGone = (record: StoredRecord) =>
      record.name === name.toLowerCase() && (!type || record.type === type);
    for (const record of this.records.filter(isGone)) this.records.splice(this.records.indexOf(record), 1);
  }

  /** A resolver follows CNAMEs everywhere; a name server only within its zones, and refuses other names. */
  answer(name: string, type: RecordType, isRecursive: boolean): Said {
    const said: Said = {
      rcode: 'NOERROR',
      isAuthoritative: !isRecursive,
      answers: [],
      authorities: [],
      additionals: [],
    };
    if (!isRecursive && this.zoneOf(name) === null) {
      return { ...said, rcode: 'REFUSED', isAuthoritative: false };
    }
    const cut = isRecursive ? null : this.cutAbove(name);
    if (cut !== null) {
      const delegation = this.records.filter((record) => record.name === cut && record.type === 'NS');
      const glue = this.records.filter(
        (record) => record.type === 'A' && delegation.some(({ value }) => value === record.name),
      );
      const authorities = delegation.map(encoded);
      return { ...said, isAuthoritative: false, authorities, additionals: glue.map(encoded) };
    }
    const visited = new Set<string>();
    for (let current = name.toLowerCase(); ; ) {
      if (visited.has(current)) return isRecursive ? { ...said, rcode: 'SERVFAIL', answers: [] } : said;
      visited.add(current);
      const dname = this.dnameAbove(current);
      if (dname) said.answers.push(encoded(dname));
      const here = dname ? [synthesised(dname, current)] : this.matching(current);
      const cnames = here.filter((record) => record.type === 'CNAME');
      const wanted = here.filter((record) => record.type === type);
      const signatures = here.filter((record) => record.type === 'RRSIG');
      const shown = [...(type === 'CNAME' ? cnames : [...cnames, ...wanted]), ...signatures];
      said.answers.push(...shown.map((record) => encoded({ ...record, name: current })));
      const target = type === 'CNAME' ? undefined : cnames[0]?.value.toLowerCase();
      if (target === undefined || (!isRecursive && this.zoneOf(target) === null)) {
        if (here.length === 0 && !this.exists(current)) said.rcode = 'NXDOMAIN';
        if (wanted.length === 0) said.authorities.push(...this.soaOf(current));
        return said;
      }
      current = target;
    }
  }

  /** Returns the records of the name, or else of the wildcard below the nearest name that exists (RFC 4592). */
  private matching(name: string): StoredRecord[] {
    if (this.exists(name)) return this.records.filter((record) => record.name === name);
    const labels = name.split('.');
    const above = labels.map((_, index) => labels.slice(index).join('.'));
    const encloser = above.find((candidate) => this.exists(candidate));
    return this.records.filter((record) => record.name === `*.${encloser}`);
  }

  private dnameAbove(name: string): StoredRecord | undefined {
    return this.records.find((record) => record.type === 'DNAME' && name.endsWith(`.${record.name}`));
  }

  private exists(name: string): boolean {
    return this.records.some((record) => record.name === name || record.name.endsWith(`.${name}`));
  }

  private zoneOf(name: string): string | null {
    const labels = name.toLowerCase().split('.');
    const names = labels.map((_, index) => labels.slice(index).join('.'));
    return names.find((candidate) => this.zones.has(candidate)) ?? null;
  }

  /** Returns the end of a zone of this server: a name with NS records that is not a zone here. */
  private cutAbove(name: string): string | null {
    const labels = name.toLowerCase().split('.');
    const names = labels.map((_, index) => labels.slice(index).join('.'));
    const zone = this.zoneOf(name) ?? '';
    return (
      names
        .slice(0, names.indexOf(zone))
        .findLast((candidate) =>
          this.records.some((record) => record.name === candidate && record.type === 'NS'),
        ) ?? null
    );
  }

  private soaOf(name: string): Answer[] {
    const zone = this.zoneOf(name);
    const stored = this.records.find((record) => record.type === 'SOA' && record.name === zone);
    const root = {
      name: '.',
      type: 'SOA',
      value: 'root.test hostmaster.test 1 7200 3600 1209600 60',
    } as const;
    const soa = stored ?? { ...root, ttlSeconds: 60 };
    const minimum = Number(soa.value.split(' ').at(-1));
    return [encoded({ ...soa, ttlSeconds: Math.min(soa.ttlSeconds, minimum) })];
  }
}

/** The CNAME of a name below a DNAME (RFC 6672). */
function synthesised({ name, value, ttlSeconds }: StoredRecord, below: string): StoredRecord {
  return { name: below, type: 'CNAME', value: below.slice(0, -name.length) + value, ttlSeconds };
}

function encoded({ name, type, value, ttlSeconds: ttl }: StoredRecord): Answer {
  switch (type) {
    case 'SOA': {
      const [mname = '', rname = '', ...numbers] = value.split(' ');
      const [serial = 1, refresh = 7200, retry = 3600, expire = 1209600, minimum = 300] = numbers.map(Number);
      return { name, type, ttl, data: { mname, rname, serial, refresh, retry, expire, minimum } };
    }
    case 'CAA': {
      const [, flags = '0', tag = '', text = ''] = /^(\d+) (\S+) "?(.*?)"?$/.exec(value) ?? [];
      return { name, type, ttl, data: { flags: Number(flags), tag: tag as 'issue', value: text } };
    }
    case 'DS': {
      const [keyTag = 0, algorithm = 13, digestType = 2] = value.split(' ').map(Number);
      return { name, type, ttl, data: { keyTag, algorithm, digestType, digest: Buffer.alloc(32) } };
    }
    case 'RRSIG': {
      // The type that is signed, and the end of the signature as an ISO date.
      const [typeCovered = 'A', end = ''] = value.split(' ');
      const expiration = Date.parse(end) / 1_000;
      const signer = { signersName: name.split('.').slice(-2).join('.'), signature: Buffer.alloc(64) };
      const dates = { expiration, inception: expiration - 86_400, originalTTL: ttl };
      const key = { algorithm: 13, labels: name.split('.').length, keyTag: 4711 };
      return { name, type, ttl, data: { typeCovered: typeCovered as 'A', ...key, ...dates, ...signer } };
    }
    case 'TXT':
      return { name, type, ttl, data: value.match(/[\s\S]{1,255}/g) ?? [''] };
    default:
      return { name, type, ttl, data: value };
  }
}
