const NAME = 'petstore-imports';

type Part = 'file' | 'progress';

/** A record of the project's import; undefined = there is none, or the browser stores nothing. */
export function readRecord<Value>(project: string, part: Part): Promise<Value | undefined> {
  return inStore('readonly', (store) => store.get([project, part]) as IDBRequest<Value>);
}

export async function writeRecord(project: string, part: Part, value: object): Promise<void> {
  await inStore('readwrite', (store) => store.put(value, [project, part]));
}

export async function removeRecords(project: string): Promise<void> {
  await inStore('readwrite', (store) => store.delete(IDBKeyRange.bound([project], [project, []])));
}

/** Without storage, such as in some private windows, an import ends with its page. */
async function inStore<Value>(
  mode: IDBTransactionMode,
  act: (store: IDBObjectStore) => IDBRequest<Value>,
): Promise<Value | undefined> {
  try {
    opened ??= open();
    const transaction = (await opened).transaction(NAME, mode);
    const request = act(transaction.objectStore(NAME));
    await new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onabort = () => reject(transaction.error);
    });
    return request.result;
  } catch {
    return undefined;
  }
}

let opened: Promise<IDBDatabase> | undefined;

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(NAME);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
