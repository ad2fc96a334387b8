let until = 0;
let reason = '';

/** `fetch` with your key. Waits for `Retry-After`; rejects if that is more than `longestSeconds` ahead. */
export const patientFetch =
  (longestSeconds = Infinity): typeof fetch =>
  async (input, init) => {
    const request = new Request(input, init);
    request.headers.set('Authorization', `Bearer ${process.env.API_KEY}`);
    for (;;) {
      while (Date.now() < until) {
        if (until - Date.now() > longestSeconds * 1000) throw new Error(reason);
        await new Promise((wake) => setTimeout(wake, until - Date.now()));
      }
      const response = await fetch(request.clone());
      const seconds = Number(response.headers.get('retry-after'));
      // With data it was executed, though a field was refused.
      if (response.ok || !seconds) return response;
      until = Date.now() + seconds * 1000;
      reason = `Until ${new Date(until).toLocaleString()}: ${await response.text()}`;
      console.warn(reason);
    }
  };
