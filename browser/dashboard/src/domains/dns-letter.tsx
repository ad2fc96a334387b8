import { CopyButton } from '../elements/copy-button.js';
import type { DomainDetailFragment } from '../graphql/generated.js';
import { dnsLetterText } from './dns-letter-text.js';

export function DnsLetter({ domain }: { domain: DomainDetailFragment }) {
  const text = dnsLetterText(domain);
  return (
    <details>
      <summary>Message for your DNS administrator</summary>
      <pre className="letter">{text}</pre>
      <CopyButton text={text} what="the message" isWide />
    </details>
  );
}
