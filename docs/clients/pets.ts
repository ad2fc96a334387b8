import { patientFetch } from './patient-fetch.js';

const send = patientFetch(60);

/** For a page: waits a minute at most. Rejects with the reason. */
export async function getPets(): Promise<{ id: number; name: string }[]> {
  const response = await send('http://127.0.0.1:4000/v1/pets');
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as { id: number; name: string }[];
}
