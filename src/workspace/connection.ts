/** Every connection to another host, except to databases. The address is the user's own, or one that was agreed to. */

export interface Posted {
  body: string;
  headers: Readonly<Record<string, string>>;
  timeoutMs: number;
}

/** Sends JSON to this address and to no other: a redirect is a failure. Throws unless the receiver takes it. */
export async function postJson(address: string, { body, headers, timeoutMs }: Posted): Promise<void> {
  const response = await fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`the receiver answered ${response.status}`);
}
