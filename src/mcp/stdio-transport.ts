import type { Readable, Writable } from 'node:stream';
import { isJSONRPCRequest, isJSONRPCResponse, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';

/**
 * Standard input and output as a transport that answers every request before it ends: a client that writes its requests
 * and closes the pipe still gets all the answers. `ended` settles when the last one is written. A subscription has no
 * answer but the end, so it is not waited for; `onListen` reports it.
 */
export function createStdioTransport(
  input: Readable,
  output: Writable,
  onListen: () => void = () => undefined,
): { transport: Transport; ended: Promise<void> } {
  const inner = new StdioServerTransport(input, output);
  const open = new Set<string | number>();
  let isOver = false;
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const settle = (): void => {
    if (isOver && open.size === 0) end();
  };
  const transport: Transport = {
    async start() {
      inner.onmessage = (message: JSONRPCMessage) => {
        if (isJSONRPCRequest(message)) {
          if (message.method === 'subscriptions/listen') onListen();
          else open.add(message.id);
        }
        transport.onmessage?.(message);
      };
      inner.onerror = (error) => transport.onerror?.(error);
      inner.onclose = () => {
        isOver = true;
        settle();
      };
      await inner.start();
    },
    async send(message) {
      await inner.send(message);
      if (isJSONRPCResponse(message) && message.id !== undefined) open.delete(message.id);
      settle();
    },
    async close() {
      open.clear();
      isOver = true;
      settle();
      await inner.close();
      transport.onclose?.();
    },
  };
  return { transport, ended };
}
