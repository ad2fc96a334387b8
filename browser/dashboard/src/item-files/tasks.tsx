import { useEffect } from 'react';
import { scopeOf } from '../items/item.js';
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
  const scopes = apiKey.scopes.join(' ');
  useEffect(() => {
    let isOver = false;
    const restore = async () => {
      const job = await storedImport(slug);
      const mayWrite = job && scopes.split(' ').includes(scopeOf(job.file.noun, 'WRITE'));
      if (mayWrite && !isOver && !currentImport.get()) currentImport.set(job);
    };
    void restore();
    return () => {
      isOver = true;
      currentImport.set(null);
      currentExport.set(null);
    };
  }, [slug, scopes]);
  if (!importing && !exporting) return null;
  return (
    <div className="tasks">
      {exporting && <ExportCard {...exporting} />}
      {importing && <ImportCard key={importing.key} job={importing} />}
    </div>
  );
}
