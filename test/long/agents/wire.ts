/** A format in which clients talk to a model. */
export interface Wire {
  /** Whether a request to this path is for a reply of the model. */
  asks(path: string): boolean;
  read(body: Body): Asked;
  /** Without `stream` one document, with it server-sent events. */
  write(reply: Reply, body: Body, path: string): Answer;
}

/** What a client sent; it has the shape of its wire. */
// biome-ignore lint/suspicious/noExplicitAny: four vendors' formats, of which a few fields are read
export type Body = Record<string, any>;

export interface Asked {
  tools: ReadonlyMap<string, Tool>;
  /** The system prompt, if it is one of the messages. */
  system: string;
  /** The text of the last user message. */
  lastUser: string;
}

export interface Tool {
  /** The names of its arguments. */
  fields: readonly string[];
  /** Takes plain text in place of arguments. */
  isFreeform?: boolean;
}

export interface Reply {
  id: string;
  text: string | null;
  calls: readonly Call[];
  usage: Usage;
}

export interface Call {
  id: string;
  tool: string;
  input: Record<string, unknown> | string;
}

/** In tokens; cached tokens are part of the input, reasoning is part of the output. */
export interface Usage {
  input: number;
  cached: number;
  output: number;
}

export interface Answer {
  type: 'application/json' | 'text/event-stream';
  text: string;
}
