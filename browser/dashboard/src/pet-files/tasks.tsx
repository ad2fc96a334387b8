import { useEffect } from 'react';
import { useSession } from '../session/signed-in.js';
import { currentExport, ExportCard } from './export-card.js';
import { ImportCard } from './import-card.js';
import { currentImport, storedImport } from './import-job.js';

/** The import and the export of the session, in a corner of every page. */
export function Tasks() {
  const { apiKey, project } = useSession();
  const { slug } = project;
  const importing = currentImport.use();
  const exporting = currentExport.use();
  const mayWrite = apiKey.scopes.includes('PETS_WRITE');
  useEffect(() => {
    let isOver = false;
    const restore = async () => {
      const job = await storedImport(slug);
      if (job && !isOver && !currentImport.get()) currentImport.set(job);
    };
    if (mayWrite) void restore();
    return () => {
      isOver = true;
      currentImport.set(null);
      currentExport.set(null);
    };
  }, [slug, mayWrite]);
  if (!importing && !exporting) return null;
  return (
    <div className="tasks">
      {exporting && <ExportCard {...exporting} />}
      {importing && <ImportCard key={importing.key} job={importing} />}
    </div>
  );
}
