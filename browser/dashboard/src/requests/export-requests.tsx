import { useApolloClient } from '@apollo/client/react';
import { useEffect, useRef, useState } from 'react';
import { Dialog } from '../elements/dialog.js';
import { tellDone } from '../elements/toaster.js';
import { ErrorNotice } from '../errors/error-notice.js';
import { useBlock } from '../errors/use-block.js';
import { paced } from '../files/paced.js';
import { Progress } from '../files/progress.js';
import { datedName, saveFile } from '../files/save-file.js';
import { useTask } from '../files/use-task.js';
import type { RequestFilter } from '../graphql/generated.js';
import { useSession } from '../session/signed-in.js';
import type { RequestPage } from './newest-page.js';
import { readRequests } from './read-requests.js';
import { REQUESTS_HEADER, requestLine } from './request-csv.js';

interface Props {
  filter: RequestFilter;
  onClose: () => void;
}

const PAGE_SIZE = 100;
const NUMBER = new Intl.NumberFormat();

/** Reads all requests that match, page by page, and saves them as a file. */
export function ExportRequests({ filter, onClose }: Props) {
  const client = useApolloClient();
  const { project } = useSession();
  const [count, setCount] = useState(0);
  const task = useTask(async (tools) => {
    const lines = [REQUESTS_HEADER];
    let after: string | null = null;
    do {
      const page: RequestPage = await paced(() => readRequests(client, { first: PAGE_SIZE, after, filter }), {
        ...tools,
        of: 'management',
        units: 1,
      });
      lines.push(...page.nodes.map(requestLine));
      setCount(lines.length - 1);
      after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
    } while (after !== null);
    saveFile(datedName(`requests-${project.slug}`, Date.now()), lines);
    tellDone(`Exported ${NUMBER.format(lines.length - 1)} requests.`);
    onClose();
  });
  const { isBlocked, countdown } = useBlock(task.error);
  const begin = useRef(task.start);
  useEffect(() => begin.current(), []);
  return (
    <Dialog title="Export requests" onClose={onClose} isPinned={task.state === 'running'}>
      {task.error ? (
        <ErrorNotice error={task.error} />
      ) : (
        <Progress
          label="Export of requests"
          share={null}
          text={`${NUMBER.format(count)} requests read`}
          wait={task.wait}
        />
      )}
      <div className="actions">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        {task.state === 'failed' && (
          <button type="button" className="primary" disabled={isBlocked} onClick={task.start}>
            Try again{countdown}
          </button>
        )}
      </div>
    </Dialog>
  );
}
