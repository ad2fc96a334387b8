import { CopyButton } from '../elements/copy-button.js';
import type { DomainDetailFragment } from '../graphql/generated.js';
import { dnsLetterText } from './dns-letter-text.js';

export function DnsLetter({ domain }: { domain: DomainDetailFragment }) {
  const text = dnsLetterText(domain);
  return (
    <details>
      <summary>Forward to whoever runs your DNS</summary>
      <pre className="letter">{text}</pre>
      <CopyButton text={text} what="the message" label="Copy the message" />
    </details>
  );
}
