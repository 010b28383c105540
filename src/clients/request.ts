/** OpenCode's command line puts quotes around a request of several words. */
export function withoutShellQuotes(request: string): string {
  const inside = /^"((?:[^"]|(?<=\\)")*)"$/.exec(request)?.[1];
  return inside === undefined ? request : inside.replaceAll('\\"', '"').trim();
}
