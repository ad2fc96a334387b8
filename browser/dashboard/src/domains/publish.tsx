import { useMutation } from '@apollo/client/react';
import { tellDone } from '../elements/toaster.js';
import { ErrorNotice } from '../errors/error-notice.js';
import { PublishProjectDocument } from '../graphql/generated.js';
import { useSession } from '../session/signed-in.js';

/** The button that publishes the project, wherever a page says that it is not published. */
export function Publish() {
  const { apiKey, project } = useSession();
  const [publish, { loading, error }] = useMutation(PublishProjectDocument);
  if (project.publishedAt !== null) return null;
  if (!apiKey.scopes.includes('DOMAINS')) {
    return <p className="muted">A key with the scope domains can publish it.</p>;
  }
  const act = async () => {
    const { data } = await publish().catch(() => ({ data: null }));
    if (data) tellDone('Published the project');
  };
  return (
    <>
      {error && <ErrorNotice error={error} />}
      <button type="button" className="small" disabled={loading} onClick={() => void act()}>
        {loading ? 'Publishing…' : 'Publish'}
      </button>
    </>
  );
}
