/** Where the clients send their requests. */
export function gateway() {
  const { BASE_URL: baseUrl = '', API_KEY: key = '' } = process.env;
  return { baseUrl, headers: { Authorization: `Bearer ${key}` } };
}
