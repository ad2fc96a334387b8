import { Moment } from '../elements/moment.js';
import type { DomainDetailFragment } from '../graphql/generated.js';

interface Props {
  certificate: NonNullable<DomainDetailFragment['certificate']>;
}

export function CertificateCard({ certificate }: Props) {
  const { issuer, notBefore, notAfter, renewAt, serialNumber } = certificate;
  return (
    <section className="card" aria-labelledby="certificate">
      <h2 id="certificate">Certificate</h2>
      <dl>
        <dt>Issued by</dt>
        <dd>{issuer}</dd>
        <dt>Valid from</dt>
        <dd>
          <Moment at={notBefore} isExact />
        </dd>
        <dt>Valid until</dt>
        <dd>
          <Moment at={notAfter} isExact />
        </dd>
        <dt>Renewed automatically</dt>
        <dd>{renewAt ? <Moment at={renewAt} isExact /> : 'not planned'}</dd>
        <dt>Serial number</dt>
        <dd>
          <code>{serialNumber}</code>
        </dd>
      </dl>
    </section>
  );
}
