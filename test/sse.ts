export interface Message {
  id: string | null;
  event: string;
  data: string;
}

/** Server-Sent Events of a response, read as a browser does: a message counts once its empty line has arrived. */
export async function* followFeed(response: Response): AsyncGenerator<Message, void, undefined> {
  if (response.status !== 200 || response.body === null) throw new Error(`No feed: ${response.status}`);
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += decoder.decode(value, { stream: true });
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const message = parseMessage(text.slice(0, end));
        text = text.slice(end + 2);
        if (message) yield message;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function parseMessage(block: string): Message | null {
  const fields = new Map(
    block
      .split('\n')
      .filter((line) => !line.startsWith(':'))
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trimStart()] as const),
  );
  const data = fields.get('data');
  return data === undefined ? null : { id: fields.get('id') ?? null, event: fields.get('event') ?? 'message', data };
}
